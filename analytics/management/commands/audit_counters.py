from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection, transaction

from analytics.audit import differences


class Command(BaseCommand):
    help = "Compares clicks, roll-ups and counters with each other, and prints every difference. Changes nothing."

    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        with transaction.atomic():
            with connection.cursor() as cursor:
                # One snapshot: clicks that are counted meanwhile are in all tables, or in none.
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for difference in differences():
                self.stdout.write(difference)
                found += 1
        self.stdout.write(f"{found} differences.")
        if found:
            sys.exit(1)
