from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from links.changes import follow_changes


class Command(BaseCommand):
    help = "Tells the workers of this host of links and domains that were changed on another. Runs until stopped."

    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        follow_changes()
