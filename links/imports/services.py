"""Links from elsewhere, with their codes, dates and clicks. A rehearsal tells what would become of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from django.conf import settings
from rest_framework.exceptions import ValidationError

from accounts.models import User
from common.envelope import invalid
from common.errors import FieldError, InvalidFields, ServiceError
from domains.addresses import BASE_ID
from domains.selectors import usable_domain, usable_domains
from links import rules
from links.bulk import MAX_ITEMS
from links.drafts import Draft, Drafting
from links.imports.layouts import AUTO, OWN
from links.imports.reading import Source, Unreadable, read, text
from links.imports.serializers import ImportedLinkSerializer
from links.storing import Rehearsal, store_drafts

# Of one call through the API.
MAX_ROWS = 10_000

Verdict = Draft | ServiceError


def import_links(
    *, owner: User, source: Source, domain_id: str | None, dry_run: bool, passwords: int | None = None
) -> Iterator[Verdict]:
    """A verdict for each row as it comes, batch by batch: what was stored stays, whatever comes after it.

    Every link goes to ``domain_id``. Without one it goes to the domain of the owner that it was on; those of the
    hosts of others to the default one. At most ``passwords`` are set.
    """
    importer = _Importer(owner, source.layout, domain_id, dry_run, passwords)
    conclude = Rehearsal(owner).verdicts if dry_run else partial(store_drafts, owner)

    def batch() -> list[Verdict]:
        return [importer.draft(row) for row in islice(source.rows, MAX_ITEMS)]

    # While the database is busy with one batch, the next one is read. That asks the database nothing.
    with ThreadPoolExecutor(max_workers=1) as reader:
        upcoming = reader.submit(batch)
        while drafts := upcoming.result():
            upcoming = reader.submit(batch)
            yield from conclude(drafts)


class Imported(NamedTuple):
    layout: str
    dry_run: bool
    verdicts: list[Verdict]


def import_content(
    *, owner: User, content: str, layout: str, dry_run: bool, domain_id: str | None = None
) -> Imported:
    """A whole file in one call. Raises Unreadable or NotFound, having written nothing."""
    if domain_id not in (None, BASE_ID) and usable_domain(owner, domain_id) is None:
        raise rules.no_domain()
    source = read(text(content), None if layout == AUTO else layout)
    rows = list(islice(source.rows, MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise Unreadable("too_many_rows", f"At most {MAX_ROWS} links are imported in one call.")
    found = import_links(
        owner=owner,
        source=Source(source.layout, iter(rows)),
        domain_id=domain_id,
        dry_run=dry_run,
        passwords=rules.MAX_PASSWORDS,
    )
    return Imported(source.layout, dry_run, list(found))


class _Importer:
    def __init__(
        self, owner: User, layout: str, domain_id: str | None, dry_run: bool, passwords: int | None
    ) -> None:
        domains = usable_domains(owner)
        self._drafting = Drafting(owner, domains)
        self._rules = ImportedLinkSerializer()
        self._domain_id = domain_id
        self._is_own = layout == OWN
        self._dry_run = dry_run
        self._passwords = passwords
        self._domains = dict.fromkeys([None, "", *settings.BASE_HOSTS], BASE_ID)
        self._domains |= {domain.host: str(domain.public_id) for domain in domains}

    def draft(self, row: Mapping[str, Any] | ServiceError) -> Verdict:
        try:
            return row if isinstance(row, ServiceError) else self._draft(dict(row))
        except ValidationError as error:
            return invalid(error)
        except ServiceError as refusal:
            return refusal

    def _draft(self, row: dict[str, Any]) -> Draft:
        host = row.pop("host", None)
        fields = self._rules.run_validation(row)
        fields["domain_id"] = self._domain_id or self._domain_of(host)
        was_guarded = fields.pop("has_password", False)
        if fields.get("password") is None:
            if was_guarded:
                raise InvalidFields([FieldError("password", "missing", _NO_PASSWORD)])
        else:
            self._spend_password()
        if self._dry_run:
            fields.pop("password", None)
        return self._drafting.draft(fields)

    def _domain_of(self, host: Any) -> str:
        found = self._domains.get(host if isinstance(host, str) else None)
        if found is None and self._is_own:
            raise rules.no_domain()
        return found or BASE_ID

    def _spend_password(self) -> None:
        if self._passwords is not None:
            if not self._passwords:
                raise rules.too_many_passwords()
            self._passwords -= 1


_NO_PASSWORD = (
    "The link asked for a password, which exports do not tell. Add it as password, or take hasPassword away."  # noqa: S105
)
