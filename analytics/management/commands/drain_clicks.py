from __future__ import annotations

import gc
import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from analytics.counting.pipeline import Drainer
from analytics.counting.summed_links import fold_changes
from analytics.journal.drops import allocate_drop_counter
from analytics.journal.mirror import Mirror
from common.changing_commands import wait_for_standby
from common.database import is_conflict, is_outage
from common.host import vitals
from common.host.metrics import count_database_error, count_drained
from common.postgresql.partitions import has_missed_partition

# From the beginning of a batch to that of the next, unless a backlog waits. A transaction has a fixed cost, and clicks
# of one link share their rows: with half the pause, 2,000 clicks a second take a sixth more processor time to count.
# They must be in the reports within a second.
PAUSE_SECONDS = 0.5
OUTAGE_SECONDS = 1.0
# Reports read what is not folded yet.
FOLD_SECONDS = 5.0
# A mirror can be out of reach when its host starts.
RECOVER_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Counts the clicks in this host's journal as they arrive. Runs until stopped; several may run at once."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="count the backlog and exit")
        parser.add_argument(
            "--damaged",
            action="store_true",
            help="count the backlog and the intact clicks behind damage, print what is skipped, and exit",
        )

    def handle(self, *args: Any, once: bool, damaged: bool = False, **options: Any) -> None:
        allocate_drop_counter()
        # The objects of a batch live until its end: default garbage collection costs a tenth of the throughput.
        gc.freeze()
        gc.set_threshold(1_000_000)
        mirror = Mirror(settings.CLICK_MIRROR) if settings.CLICK_MIRROR else None
        drainer = Drainer(settings.CLICKS_DIR, skips_damage=damaged, mirror=mirror)
        once, counted, fold_at, recover_at = once or damaged, 0, time.monotonic(), 0.0
        if once:
            wait_for_standby()
        while True:
            vitals.beat()
            began = time.monotonic()
            if mirror is not None and began >= recover_at:
                mirror.recover(settings.CLICKS_DIR)
                recover_at = time.monotonic() + RECOVER_SECONDS
            try:
                taken = drainer.drain_batch()
                if time.monotonic() >= fold_at:
                    fold_changes()
                    fold_at = time.monotonic() + FOLD_SECONDS
            except Error as error:
                if is_conflict(error) or has_missed_partition(error):
                    logger.warning("Retrying a batch of clicks after a conflict: %s", error)
                    time.sleep(PAUSE_SECONDS)
                    continue
                count_database_error("background")
                if once or not is_outage(error):
                    raise
                logger.warning("Clicks stay in the journal until the database is available: %s", error)
                connection.close()
                time.sleep(OUTAGE_SECONDS)
                continue
            count_drained(taken)
            vitals.note_counted()
            counted += taken
            for path, start, end in drainer.take_skipped():
                self.stdout.write(f"{path}: skipped {end - start} damaged bytes, from byte {start} to {end}")
            if once:
                if not taken:
                    break
            elif drainer.has_caught_up:
                # Clicks that arrived during the batch have waited already.
                time.sleep(max(0, began + PAUSE_SECONDS - time.monotonic()))
        if damaged:
            self.stdout.write(f"{counted} records counted.")
        _require_all_counted(drainer, mirror)


def _require_all_counted(drainer: Drainer, mirror: Mirror | None) -> None:
    if mirror is not None and mirror.left:
        raise CommandError("Clicks in the mirror are not counted; see the log.")
    if drainer.has_damage:
        raise CommandError("A segment of the journal is damaged; see the log.")
