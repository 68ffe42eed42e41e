from __future__ import annotations

import gc
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from common.errors import ServiceError
from domains.addresses import BASE_ID
from domains.selectors import usable_domains
from links.imports.layouts import NAMES
from links.imports.reading import read
from links.imports.services import Verdict, import_links
from links.verdicts import imported_address


class Command(BaseCommand):
    help = "Imports the links of a file, and says of each row what becomes of it. Without --apply nothing is written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSON or lines of JSON, in UTF-8")
        parser.add_argument("--owner", required=True, help="the e-mail of the account that gets the links")
        parser.add_argument("--format", choices=NAMES, help="told from the first row when left out")
        parser.add_argument(
            "--domain",
            help="a domain of the owner, or base, for all links; otherwise they stay on the domains that they were on",
        )
        parser.add_argument(
            "--apply", action="store_true", help="import, and do not only say what would become of it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(email=options["owner"].lower()).first()
        if owner is None:
            raise CommandError(f"There is no account {options['owner']}.")
        applied, rows, good = options["apply"], 0, 0
        # A batch is many objects that all live to its end: looking for garbage among them costs a tenth of the time.
        gc.freeze()
        gc.set_threshold(200_000)
        try:
            # A byte order mark is no part of the first name.
            with options["file"].open(encoding="utf-8-sig", newline="") as file:
                source = read(file, options["format"])
                domain_id = _domain_id(owner, options["domain"])
                verdicts = import_links(owner=owner, source=source, domain_id=domain_id, dry_run=not applied)
                for verdict in verdicts:
                    rows += 1
                    good += not isinstance(verdict, ServiceError)
                    self.stdout.write(f"{rows}: {_sentence(verdict)}")
        except OSError as error:
            raise CommandError(str(error)) from None
        except UnicodeDecodeError:
            raise CommandError(f"After row {rows}, the file is not UTF-8.") from None
        except ServiceError as refusal:
            raise CommandError(refusal.message) from None
        if applied:
            self.stdout.write(f"{good} of {rows} links were imported ({source.layout}).")
        else:
            self.stdout.write(f"{good} of {rows} links can be imported ({source.layout}). --apply does it.")
        if good < rows:
            sys.exit(1)


def _domain_id(owner: User, host: str | None) -> str | None:
    if host is None or host == BASE_ID:
        return host
    for domain in usable_domains(owner):
        if domain.host == host.lower():
            return str(domain.public_id)
    raise CommandError(f"{host} is no active domain of {owner.email}.")


def _sentence(verdict: Verdict) -> str:
    if isinstance(verdict, ServiceError):
        return f"refused, {verdict.code}: {verdict.message}"
    return f"{imported_address(verdict) or 'a new code'} -> {verdict.link.original_url}"
