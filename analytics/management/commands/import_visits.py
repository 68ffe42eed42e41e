from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from analytics.visit_imports import NAMES, Matched, Visits, add, combined, match, read_visits
from common.changing_commands import wait_for_standby
from common.errors import ServiceError
from common.http.short_urls import BASE_ID
from common.long_commands import STATUS, Interruption, Progress
from links.transfer.command_options import domain_with_host, owner_of_email
from links.transfer.import_files import ImportFile

_WHOLE_BATCHES = "Each batch was added as a whole or not at all. Run the same command again to continue"


class Command(BaseCommand):
    help = (
        "Add the visits that another service logged to the reports of imported links, by day. Repeating an import adds"
        " nothing twice. Writes nothing without --apply."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            nargs="+",
            help="CSV, JSON or lines of JSON, in UTF-8, with a row for each visit; all parts of a log in one run",
        )
        parser.add_argument(
            "--owner", required=True, help="e-mail address of the account that owns the links"
        )
        parser.add_argument("--format", choices=NAMES, help="detected from the first row if omitted")
        parser.add_argument(
            "--domain", help="domain of the owner, or base, for all visits; by default each keeps its domain"
        )
        parser.add_argument(
            "--code", help="the link of rows that name none, such as exports of a single link"
        )
        parser.add_argument(
            "--apply", action="store_true", help="write the visits instead of only reporting the result"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = owner_of_email(options["owner"])
        on_base = options["domain"] == BASE_ID
        domain = None if on_base or options["domain"] is None else domain_with_host(owner, options["domain"])
        self._is_applied = options["apply"]
        if self._is_applied:
            wait_for_standby()
        try:
            parts = _read_all(options)
            visits = combined(parts.values())
            matches = match(owner, visits, domain, on_base=on_base)
            self._report(parts, matches)
            added = self._add(matches)
        except KeyboardInterrupt:
            self._stop()
        except OperationalError as error:
            state = f"{_WHOLE_BATCHES}." if self._is_applied else "Nothing was added."
            raise CommandError(f"The database failed: {' '.join(str(error).split())}. {state}") from None
        counted = sum(sum(matched.days.values()) for matched in matches)
        done = "were added" if options["apply"] else "can be added"
        hint = "" if options["apply"] else " Use --apply to add them."
        self.stdout.write(
            f"{added:,} of {counted:,} visits {done} ({visits.layout}), {visits.uncounted:,} rows do not count,"
            f" {visits.refused:,} rows were refused.{hint}"
        )
        if visits.refused or any(matched.link_id is None for matched in matches):
            sys.exit(1)

    def _report(self, parts: dict[Path, Visits], matches: list[Matched]) -> None:
        for path, part in parts.items():
            file = f"{path}, row " if len(parts) > 1 else ""
            for row, refusal in part.refusals:
                self.stdout.write(f"{file}{row}: refused, {refusal.code}: {refusal.message}")
        for matched in matches:
            refusal_code = f"refused, {matched.refusal}: " if matched.refusal else ""
            self.stdout.write(
                f"{refusal_code}{matched.address}: visits {sum(matched.days.values()):,},"
                f" days {len(matched.days):,}"
            )

    def _add(self, matches: list[Matched]) -> int:
        added, is_finished = 0, True
        total = sum(sum(matched.days.values()) for matched in matches if matched.link_id is not None)
        with (
            Interruption() as interruption,
            Progress(sys.stderr, "import_visits", unit="visits", total=total) as progress,
        ):
            for batch in add(matches, dry_run=not self._is_applied):
                added += batch.new
                progress.advance(batch.visits)
                is_finished = progress.done == total
                if interruption.is_requested:
                    break
        if not is_finished:
            self._stop()
        return added

    def _stop(self) -> NoReturn:
        state = f"{_WHOLE_BATCHES}: no visit is added twice." if self._is_applied else "Nothing was added."
        self.stdout.write(f"Interrupted. {state}")
        sys.exit(STATUS)


def _read_all(options: dict[str, Any]) -> dict[Path, Visits]:
    """Read each file. Raises CommandError."""
    paths: list[Path] = options["file"]
    if len({path.resolve() for path in paths}) < len(paths):
        raise CommandError("The same file is named twice: its visits would count twice. Nothing was added.")
    parts = {}
    for path in paths:
        name = f"{path}: " if len(paths) > 1 else ""
        try:
            parts[path] = _read(path, options)
        except OSError as error:
            raise CommandError(str(error)) from None
        except UnicodeDecodeError:
            raise CommandError(f"{name}The file is not valid UTF-8. Nothing was added.") from None
        except ServiceError as refusal:
            raise CommandError(f"{name}{refusal.message}") from None
    return parts


def _read(path: Path, options: dict[str, Any]) -> Visits:
    with (
        ImportFile(path) as file,
        Progress(
            sys.stderr, "import_visits: reading", unit="read", total=file.size, is_bytes=True
        ) as progress,
    ):
        return read_visits(
            file.text, options["format"], options["code"], lambda: progress.advance_to(file.read_bytes)
        )
