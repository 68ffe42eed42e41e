from __future__ import annotations

import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import Error, connection

from common.metrics import count_database_error
from domains.recheck import forget_lapsed_claims, recheck_due

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 60


class Command(BaseCommand):
    help = (
        "Looks again at the DNS of active domains, each once a day, and forgets claims that were not proven in time. "
        "Runs until stopped."
    )

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="do what is due and end, for a timer of your own"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        while True:
            try:
                forget_lapsed_claims()
                recheck_due()
            except Error as error:
                count_database_error("background")
                if options["once"]:
                    raise
                logger.warning("The re-check of domains waits for the database: %s", error)
            if options["once"]:
                return
            connection.close()
            time.sleep(PERIOD_SECONDS)
