from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand

from common.host import state
from shortener_project.running.preparation import DatabaseUnavailable, prepare_database, welcome_message

RETRY_SECONDS = 0.5


class Command(BaseCommand):
    help = "Waits for the database and prepares it. `serve` runs this if the database is unreachable when it starts."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        while True:
            try:
                owner = prepare_database()
            except DatabaseUnavailable:
                time.sleep(RETRY_SECONDS)
            else:
                break
        state.set_prepared(True)
        self.stdout.write(welcome_message(owner, is_terminal=self.stdout.isatty()))
