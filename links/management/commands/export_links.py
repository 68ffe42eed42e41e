from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Workspace
from common.long_commands import STATUS, Progress
from links.selectors import totals
from links.transfer.command_options import owner_of_email, passphrase_in
from links.transfer.exports import ExportFormat, export_links
from links.transfer.sealed_passwords import Sealer


class Command(BaseCommand):
    help = "Write all links of an account to a file, which import_links and the API can read."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="replaced if it exists")
        parser.add_argument("--owner", required=True, help="e-mail address of the account")
        parser.add_argument(
            "--format", choices=ExportFormat.values, default=ExportFormat.CSV.value, help="csv by default"
        )

        parser.add_argument(
            "--passphrase-file",
            type=Path,
            help="export passwords, too, sealed with the passphrase in the first line of this file",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = owner_of_email(options["owner"])
        passphrase = passphrase_in(options["passphrase_file"])
        sealer = None if passphrase is None else Sealer(passphrase)
        file: Path = options["file"].resolve()
        draft = file.with_name(f".{file.name}.new")
        try:
            links = _write(draft, owner, options["format"], sealer)
            draft.replace(file)
        except OSError as error:
            raise CommandError(f"Cannot write {file}: {error.strerror}.") from None
        except KeyboardInterrupt:
            self.stdout.write(f"Interrupted. {file} is unchanged. Run the same command to export again.")
            sys.exit(STATUS)
        finally:
            draft.unlink(missing_ok=True)
        self.stdout.write(f"{file}: {links:,} links.")


def _write(draft: Path, owner: Workspace, file_format: str, sealer: Sealer | None) -> int:
    """Return the number of links. The file contains private titles, so only its owner can read it."""
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        Progress(sys.stderr, "export_links", unit="links", total=totals(owner).links) as progress,
    ):
        for chunk in export_links(owner, file_format=file_format, sealer=sealer, report=progress.advance):
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
        return progress.done
