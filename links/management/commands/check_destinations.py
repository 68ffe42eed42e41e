from __future__ import annotations

import logging
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from common.changing_commands import wait_for_standby
from common.host import vitals
from common.host.metrics import count_database_error
from links.health.checks import Checks, Enlisting

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 5


class Command(BaseCommand):
    help = "Check the destinations of links, daily or weekly as their owners have chosen. Runs until stopped."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="check what is due and exit (for cron)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.OUTBOUND:
            raise CommandError("OUTBOUND is off.")
        enlisting, checks = Enlisting(), Checks()
        if options["once"]:
            wait_for_standby()
        while True:
            try:
                has_more = enlisting.go_on()
                has_more = bool(checks.check_some()) or has_more
            except Error as error:
                has_more = False
                count_database_error("background")
                if options["once"]:
                    raise
                logger.warning("The checks of destinations are waiting for the database: %s", error)
            if has_more:
                vitals.beat()
                continue
            if options["once"]:
                return
            connection.close()
            vitals.sleep(PERIOD_SECONDS)
