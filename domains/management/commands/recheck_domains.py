from __future__ import annotations

import logging
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import Error, connection

from common.changing_commands import wait_for_standby
from common.host import vitals
from common.host.metrics import count_database_error
from domains.verification import delete_expired_claims, recheck_due

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 60


class Command(BaseCommand):
    help = (
        "Recheck the DNS of each active domain once a day, and delete claims that were not verified in time. "
        "Runs until stopped."
    )

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="run once and exit (for cron)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            wait_for_standby()
        while True:
            try:
                delete_expired_claims()
                recheck_due()
            except Error as error:
                count_database_error("background")
                if options["once"]:
                    raise
                logger.warning("The recheck of domains is waiting for the database: %s", error)
            if options["once"]:
                return
            connection.close()
            vitals.sleep(PERIOD_SECONDS)
