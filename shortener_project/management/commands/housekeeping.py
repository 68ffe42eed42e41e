from __future__ import annotations

import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import Error, connection

from accounts.limits import forget_old_attempts
from links.namespace import forget_lapsed_holds

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 600


class Command(BaseCommand):
    help = "Deletes what has lapsed: holds on the codes of deleted links, old attempts, sessions. Runs until stopped."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="delete now and end, for a timer of your own")

    def handle(self, *args: Any, **options: Any) -> None:
        while True:
            try:
                forget_lapsed_holds()
                forget_old_attempts()
                call_command("clearsessions")
            except Error as error:
                if options["once"]:
                    raise
                logger.warning("Housekeeping waits for the database: %s", error)
            if options["once"]:
                return
            # Nothing is due for minutes; the database may have better uses for a connection.
            connection.close()
            time.sleep(PERIOD_SECONDS)
