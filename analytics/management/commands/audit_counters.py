from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection, transaction

from analytics.counting.audit import damaged_segments, differences, losses, repair
from common.changing_commands import wait_for_standby


class Command(BaseCommand):
    help = (
        "Compares clicks, roll-ups and counters and prints every difference, and the clicks that a restore from an"
        " older dump lost. Changes nothing without --repair."
    )

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--repair",
            action="store_true",
            help="first rebuild counts of lifetimes and months and owners' totals from what they add up, and print"
            " each change",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repair"]:
            wait_for_standby()
            with transaction.atomic():
                changes = list(repair())
            for change in changes:
                self.stdout.write(change)
            self.stdout.write(f"{len(changes)} repaired.")
        count = 0
        with transaction.atomic():
            with connection.cursor() as cursor:
                # One snapshot: a concurrent batch is visible in all tables or in none.
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for difference in differences():
                self.stdout.write(difference)
                count += 1
            for line in (*losses(), *damaged_segments(settings.CLICKS_DIR)):
                self.stdout.write(line)
        self.stdout.write(f"{count} differences.")
        if count:
            sys.exit(1)
