from __future__ import annotations

import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import Error, connection

from accounts.idempotency import forget_old_answers
from accounts.limits import forget_old_attempts
from accounts.rates import forget_old_requests
from analytics.life_counts import close_days
from analytics.partitions import ensure_partitions
from analytics.retention import forget_deleted_links, forget_finished_segments, forget_old_clicks
from analytics.salts import forget_visitors
from common.metrics import count_database_error
from links.namespace import forget_lapsed_holds

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 600


class Command(BaseCommand):
    help = (
        "Deletes what has lapsed, makes the partitions that will be needed, closes days. Runs until stopped."
    )

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="delete now and end, for a timer of your own")

    def handle(self, *args: Any, **options: Any) -> None:
        while True:
            try:
                forget_lapsed_holds()
                forget_old_attempts()
                forget_old_requests()
                forget_old_answers()
                call_command("clearsessions")
                ensure_partitions()
                close_days()
                forget_visitors()
                forget_old_clicks(settings.CLICK_RETENTION_DAYS)
                forget_deleted_links()
                forget_finished_segments()
            except Error as error:
                count_database_error("background")
                if options["once"]:
                    raise
                logger.warning("Housekeeping waits for the database: %s", error)
            if options["once"]:
                return
            # Nothing is due for minutes; the database may have better uses for a connection.
            connection.close()
            time.sleep(PERIOD_SECONDS)
