from __future__ import annotations

import gc
import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from analytics.drops import make_room
from analytics.pipeline import Drainer
from common.database import is_outage
from common.metrics import count_database_error, count_drained

IDLE_SECONDS = 0.25
OUTAGE_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Counts the clicks of this host's journal as they come. Runs until stopped; any number may run at once."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="count what there is and end")

    def handle(self, *args: Any, **options: Any) -> None:
        make_room()
        # A batch is many objects that all live to its end: looking for garbage among them costs a tenth of the rate.
        gc.freeze()
        gc.set_threshold(200_000)
        drainer = Drainer(settings.CLICKS_DIR)
        while True:
            try:
                while taken := drainer.drain_batch():
                    count_drained(taken)
            except Error as error:
                count_database_error("background")
                if options["once"] or not is_outage(error):
                    raise
                logger.warning("Clicks wait for the database: %s", error)
                connection.close()
                time.sleep(OUTAGE_SECONDS)
                continue
            if options["once"]:
                break
            time.sleep(IDLE_SECONDS)
        if drainer.found_damage:
            raise CommandError("A segment of the journal is damaged; see the log.")
