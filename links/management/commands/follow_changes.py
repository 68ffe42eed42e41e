from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from links.destinations.invalidation_listener import follow_changes


class Command(BaseCommand):
    help = (
        "Invalidate cached links and domains on this host when another host changes them. Runs until stopped."
    )

    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        follow_changes()
