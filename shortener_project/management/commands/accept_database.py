from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from common.host import cache_versions, primary


class Command(BaseCommand):
    help = (
        "Use the database server that DATABASE_URL reaches now, although this host has used a later timeline: after"
        " a restore, or after a failover that discarded writes. Run it on every host; the service may be running."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        primary.forget()
        connection.ensure_connection()
        # Links may have been read from the later timeline.
        cache_versions.bump_all()
        self.stdout.write(f"This host uses timeline {primary.timeline_of(primary.current())}.")
