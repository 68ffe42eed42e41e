from __future__ import annotations

import gc
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Workspace
from common.changing_commands import wait_for_standby
from common.errors import ServiceError
from common.http.short_urls import BASE_ID
from common.long_commands import STATUS, Interruption, Progress
from links.bulk.services import MAX_ITEMS
from links.transfer.command_options import domain_with_host, owner_of_email, passphrase_in
from links.transfer.import_files import ImportFile, Source, read
from links.transfer.import_layouts import NAMES
from links.transfer.imports import Result, import_links, imported_address


class Command(BaseCommand):
    help = "Import links from a file and print a result for each row. Writes nothing without --apply."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSON or lines of JSON")
        parser.add_argument(
            "--owner", required=True, help="e-mail address of the account that will own the links"
        )
        parser.add_argument(
            "--encoding",
            # The first one: a byte order mark is not part of the first column name.
            choices=["utf-8-sig", "utf-16", "cp1252"],
            default="utf-8-sig",
            help="of the file; Excel often writes cp1252 (default: utf-8-sig)",
        )
        parser.add_argument("--format", choices=NAMES, help="detected from the first row if omitted")
        parser.add_argument(
            "--domain",
            help="domain of the owner, or base, for all links; by default each link keeps its domain",
        )
        parser.add_argument(
            "--apply", action="store_true", help="write the links instead of only reporting the results"
        )
        parser.add_argument(
            "--from-row", type=int, default=1, metavar="ROW", help="skip earlier rows, to continue an import"
        )

        parser.add_argument(
            "--passphrase-file", type=Path, help="file whose first line is the passphrase of sealed passwords"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = owner_of_email(options["owner"])
        if options["from_row"] < 1:
            raise CommandError("--from-row must be at least 1.")
        if options["apply"]:
            wait_for_standby()
        # All objects of a batch live until its end; collecting garbage among them takes a tenth of the run time.
        gc.freeze()
        gc.set_threshold(200_000)
        run = _Run(self, options)
        try:
            run.execute(owner)
        except KeyboardInterrupt:
            run.stop("The last batch is stored as a whole or not at all.", is_uncertain=options["apply"])
        except OSError as error:
            raise CommandError(str(error)) from None
        except UnicodeDecodeError:
            raise CommandError(
                f"The file has another encoding after row {run.row}. Name it, such as --encoding cp1252."
            ) from None
        except ServiceError as refusal:
            raise CommandError(refusal.message) from None
        if run.succeeded < run.verdicts:
            sys.exit(1)


class _Run:
    """One import. ``row`` is the last row with a verdict."""

    def __init__(self, command: Command, options: dict[str, Any]) -> None:
        self._command, self._options = command, options
        self.row = options["from_row"] - 1
        self.verdicts = self.succeeded = 0

    def execute(self, owner: Workspace) -> None:
        with ImportFile(self._options["file"], self._options["encoding"]) as file:
            source = read(file.text, self._options["format"])
            for _ in range(self.row):
                next(source.rows, None)
            self._import(owner, source, file)
        if self._options["apply"]:
            self._print(f"{self.succeeded} of {self.verdicts} links were imported ({source.layout}).")
        else:
            self._print(
                f"{self.succeeded} of {self.verdicts} links can be imported ({source.layout})."
                " Use --apply to import them."
            )

    def _import(self, owner: Workspace, source: Source, file: ImportFile) -> None:
        domain_id = _domain_id(owner, self._options["domain"])
        passphrase = passphrase_in(self._options["passphrase_file"])
        with (
            Interruption() as interruption,
            Progress(sys.stderr, "import_links", unit="read", total=file.size, is_bytes=True) as progress,
        ):
            for result in import_links(
                owner=owner,
                source=source,
                domain_id=domain_id,
                dry_run=not self._options["apply"],
                passphrase=passphrase,
            ):
                self.row += 1
                self.verdicts += 1
                self.succeeded += not isinstance(result.verdict, ServiceError)
                progress.write(self._command.stdout, f"{self.row}: {_line(result)}")
                progress.advance_to(file.read_bytes)
                # A batch is one transaction, and its verdicts follow it.
                if interruption.is_requested and self.verdicts % MAX_ITEMS == 0:
                    break
            else:
                return
        self.stop("Earlier rows are finished.")

    def stop(self, state: str, *, is_uncertain: bool = False) -> NoReturn:
        """Say how to continue, and exit. ``is_uncertain``: rows after the last verdict may be stored."""
        warning = f" Rows without a code may then be imported twice; check the last {MAX_ITEMS:,}."
        self._print(
            f"Interrupted after row {self.row}. {state}"
            f" Run the same command with --from-row {self.row + 1} to continue.{warning if is_uncertain else ''}"
        )
        sys.exit(STATUS)

    def _print(self, line: str) -> None:
        self._command.stdout.write(line)


def _domain_id(owner: Workspace, host: str | None) -> str | None:
    if host is None or host == BASE_ID:
        return host
    return str(domain_with_host(owner, host).public_id)


def _line(result: Result) -> str:
    verdict = result.verdict
    if isinstance(verdict, ServiceError):
        return f"refused, {verdict.code}: {verdict.message}"
    line = f"{imported_address(verdict) or 'a new code'} -> {verdict.link.original_url}"
    if result.former_host is not None:
        line += f" (was on {result.former_host})"
    return " ".join([line, *(f"[{warning.field}: {warning.message}]" for warning in result.warnings)])
