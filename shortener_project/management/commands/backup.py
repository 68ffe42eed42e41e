from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from shortener_project.backup import write_backup


class Command(BaseCommand):
    help = (
        "Writes the database and this host's journal of clicks to a file that only its owner can read. The service "
        "may run. SECRET_KEY is not in the file: keep it elsewhere."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="replaced if it exists")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"].resolve()
        try:
            backup = write_backup(file)
        except OSError as error:
            raise CommandError(f"Cannot write {file}: {error.strerror}.") from None
        self.stdout.write(f"{file}: {backup.bytes:,} bytes, {backup.segments} journal segments.")
