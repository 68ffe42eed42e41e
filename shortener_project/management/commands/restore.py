from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from shortener_project.backup import restore_backup


class Command(BaseCommand):
    help = "Restores a backup into the empty database while no host runs the service. Then start the service."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="delete what the database contains")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"].resolve()
        try:
            segments = restore_backup(file, replace=options["replace"])
        except OSError as error:
            raise CommandError(f"Cannot restore {file}: {error.strerror}.") from None
        self.stdout.write(f"Restored {file}: the database and {segments} journal segments.")
