"""Imports links with their codes, dates and clicks. A dry run reports the result for each row, and what it would lose.

A dry run reveals which codes are taken, so each revealed code counts as a guess by the client's network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

from django.conf import settings

from accounts.models import User, Workspace
from common.errors import FieldError, InvalidFields, ServiceError, TooManyAttempts
from common.http.short_urls import BASE_ID, short_url
from common.rest.envelope import ResponseWarning
from common.rest.fields import iso_utc
from common.rest.unknown_fields import Handling
from domains.addresses import address_of
from domains.models import Domain
from domains.selectors import find_domain
from events.outbox import emit
from events.types import EventType
from links import rules
from links.bulk.creation import Drafting, DryRun, store_drafts
from links.bulk.services import MAX_ITEMS, results_of_items
from links.code_claims import own_codes
from links.errors import CodeTaken, domain_not_found, require_usable
from links.guess_counts import guesses, too_many_guesses
from links.models import Link, UtmTemplate
from links.storage.insert import Draft
from links.transfer.import_files import Source, Unreadable, read, text
from links.transfer.import_layouts import AUTO, OWN
from links.transfer.sealed_passwords import Opener
from links.transfer.serializers import ImportedLinkSerializer
from links.utm_templates.services import get_template

# Per API call.
MAX_ROWS = 10_000

# Different former hosts that a response lists.
MAX_HOSTS = 100

Verdict = Draft | ServiceError


class Result(NamedTuple):
    """A row's verdict, what the link loses, and its former host if it gets another one."""

    verdict: Verdict
    warnings: list[ResponseWarning]
    former_host: str | None


def import_links(
    *,
    owner: Workspace,
    creator: User | None = None,
    source: Source,
    domain_id: str | None,
    dry_run: bool,
    passwords: int | None = None,
    template: UtmTemplate | None = None,
    passphrase: str | None = None,
) -> Iterator[Result]:
    """Yield a result for each row, batch by batch. A failure in a later batch keeps the stored ones.

    Every link goes to ``domain_id``. Without ``domain_id``, a link stays on its host if that is a domain of the
    owner; otherwise it goes to the default domain. At most ``passwords`` passwords are set.
    """
    domains = list(Domain.objects.visible_to(owner))
    importer = _Importer(
        Drafting(owner, creator, domains, () if template is None else [template]),
        domains,
        source.layout,
        domain_id,
        dry_run=dry_run,
        passwords=passwords,
        template=template,
        passphrase=passphrase,
    )
    rehearsal = DryRun(owner) if dry_run else None

    def batch() -> list[Result]:
        return [importer.draft(row) for row in islice(source.rows, MAX_ITEMS)]

    created = rows = 0

    def announce(stored: int) -> None:
        counts = {"created": created + stored, "refused": rows - created - stored}
        emit(owner.pk, EventType.IMPORT_FINISHED, counts)

    # Parse the next batches while the database stores this one. Parsing needs no database.
    with ThreadPoolExecutor(max_workers=1) as reader:
        upcoming, later = reader.submit(batch), reader.submit(batch)
        while drafts := upcoming.result():
            upcoming, later = later, reader.submit(batch)
            rows += len(drafts)
            verdicts = [draft.verdict for draft in drafts]
            if rehearsal is not None:
                verdicts = rehearsal.verdicts(verdicts)
            else:
                is_last = len(drafts) < MAX_ITEMS or (upcoming.exception() is None and not upcoming.result())
                verdicts = store_drafts(owner, verdicts, finish=announce if is_last else None)
            created += sum(isinstance(verdict, Draft) for verdict in verdicts)
            for draft, verdict in zip(drafts, verdicts, strict=True):
                yield draft._replace(verdict=verdict)


class Imported(NamedTuple):
    layout: str
    dry_run: bool
    results: list[Result]

    @property
    def verdicts(self) -> list[Verdict]:
        return [result.verdict for result in self.results]


def import_content(
    *,
    owner: Workspace,
    creator: User | None = None,
    content: str,
    layout: str,
    dry_run: bool,
    domain_id: str | None = None,
    utm_template_id: str | None = None,
    passphrase: str | None = None,
) -> Imported:
    """Import a whole file in one call. Raises Unreadable, NotFound or DomainNotActive, and then writes nothing."""
    template = None if utm_template_id is None else get_template(owner, utm_template_id)
    if domain_id is not None and domain_id != BASE_ID:
        require_usable(find_domain(owner, domain_id))
    source = read(text(content), None if layout == AUTO else layout)
    rows = list(islice(source.rows, MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise Unreadable("too_many_rows", f"At most {MAX_ROWS} links are imported in one call.")
    results = import_links(
        owner=owner,
        creator=creator,
        source=Source(source.layout, iter(rows)),
        domain_id=domain_id,
        dry_run=dry_run,
        passwords=rules.MAX_PASSWORDS,
        template=template,
        passphrase=passphrase,
    )
    return Imported(source.layout, dry_run, list(results))


class _Importer:
    def __init__(
        self,
        drafting: Drafting,
        domains: Iterable[Domain],
        layout: str,
        domain_id: str | None,
        *,
        dry_run: bool,
        passwords: int | None,
        template: UtmTemplate | None,
        passphrase: str | None,
    ) -> None:
        self._drafting = drafting
        self._rules = ImportedLinkSerializer()
        self._handling = Handling(is_strict=False)
        self._domain_id = domain_id
        self._is_own = layout == OWN
        self._dry_run = dry_run
        self._passwords = passwords
        self._opener = Opener(passphrase)
        self._shared = {} if template is None else {"utm_template_id": str(template.public_id)}
        self._domains = dict.fromkeys([None, "", *settings.BASE_HOSTS], BASE_ID)
        # Links of other services on a domain that is not active go to the default domain, as if it were no domain.
        self._domains |= {
            domain.host: str(domain.public_id) for domain in domains if domain.verified or self._is_own
        }

    def draft(self, row: Mapping[str, Any] | ServiceError) -> Result:
        if isinstance(row, ServiceError):
            return Result(row, [], None)
        fields = dict(row)
        warnings, host = fields.pop("warnings", []), fields.pop("host", None)
        try:
            draft = self._draft(fields, host)
        except ServiceError as refusal:
            return Result(refusal, warnings, None)
        return Result(draft, warnings, self._former(host, draft))

    def _draft(self, row: dict[str, Any], host: Any) -> Draft:
        # A layout gives only known fields, so there is nothing to warn about.
        fields, _ = self._handling.read(self._rules, row)
        fields["domain_id"] = self._domain_id or self._domain_of(host)
        had_password, sealed = fields.pop("has_password", False), fields.pop("sealed_password", None)
        password_hash = None
        if fields.get("password") is not None:
            self._spend_password()
        elif sealed is not None:
            password_hash = self._opener.open(sealed, fields.get("short_code"))
        elif had_password:
            raise InvalidFields([FieldError("password", "missing", _NO_PASSWORD)])
        if self._dry_run:
            fields.pop("password", None)
        draft = self._drafting.draft(fields | self._shared)
        if password_hash is not None:
            draft.link.password = password_hash
        return draft

    def _former(self, host: Any, draft: Draft) -> str | None:
        """The host if the link gets another one. The default domain may have several."""
        if not host or not isinstance(host, str):
            return None
        domain = draft.link.domain
        stays = host in settings.BASE_HOSTS if domain is None else host == domain.host
        return None if stays else host

    def _domain_of(self, host: Any) -> str:
        domain_id = self._domains.get(host if isinstance(host, str) else None)
        if domain_id is None and self._is_own:
            raise domain_not_found()
        return domain_id or BASE_ID

    def _spend_password(self) -> None:
        if self._passwords is not None:
            if not self._passwords:
                raise rules.too_many_passwords()
            self._passwords -= 1


_NO_PASSWORD = (
    "Exports do not contain the password of a protected link. Add a password, or remove hasPassword."  # noqa: S105 # a message
)


def withhold_guesses(imported: Imported, *, owner: Workspace, address: str) -> Imported:
    """Count the codes of other accounts that the response reveals as taken.

    A dry run reveals at most as many codes as the network has guesses left. It refuses every later row, whether or
    not its code is taken.
    """
    codes = {verdict.taken for verdict in imported.verdicts if isinstance(verdict, CodeTaken)}
    if not codes or not settings.UNKNOWN_CODE_LIMIT:
        return imported
    foreign = codes - own_codes(codes, owner_id=owner.pk)
    remaining = guesses().remaining(address)
    shown: list[Result] = []
    spent = 0
    for result in imported.results:
        is_guess = isinstance(result.verdict, CodeTaken) and result.verdict.taken in foreign
        if imported.dry_run and is_guess and spent == remaining:
            break
        spent += is_guess
        shown.append(result)
    withheld = len(imported.results) - len(shown)
    try:
        guesses().spend(address, spent + bool(withheld))
    except TooManyAttempts:
        # A concurrent call from the same network has used the remaining guesses.
        if imported.dry_run:
            shown, withheld = [], len(imported.results)
    refusal = Result(too_many_guesses(guesses().refused_for(address)), [], None)
    return imported._replace(results=[*shown, *[refusal] * withheld])


def import_results(imported: Imported) -> dict[str, Any]:
    return results_of_items(
        imported.verdicts,
        lambda _, draft: imported_url(draft),
        done="can be imported; nothing was written" if imported.dry_run else "were imported",
        warnings={
            position: result.warnings for position, result in enumerate(imported.results) if result.warnings
        },
        status=201,
        name="row",
        first=1,
        format=imported.layout,
        dryRun=imported.dry_run,
        hostChanges=_host_changes(imported.results),
    )


def _host_changes(results: Iterable[Result]) -> list[dict[str, Any]]:
    """How many links change from which host to which: their former addresses do not lead here."""
    changes = Counter(
        (result.former_host, _host_of(result.verdict.link))
        for result in results
        if result.former_host is not None and isinstance(result.verdict, Draft)
    )
    return [
        {"from": former, "to": host, "links": links}
        for (former, host), links in changes.most_common(MAX_HOSTS)
    ]


def _host_of(link: Link) -> str:
    return address_of(link.domain).full_domain


def imported_url(draft: Draft) -> dict[str, Any]:
    """A link of a dry run has no identifier, and a short code only if the row contains one."""
    link = draft.link
    shown: dict[str, Any] = {
        "originalUrl": link.original_url,
        "customCode": link.custom_code,
        "title": link.title,
        "clickCount": draft.clicks,
    }
    if link.pk is not None:
        shown |= {"_id": str(link.public_id), "createdAt": iso_utc(link.created_at)}
    code = link.short_code or draft.short_code
    if code:
        shown["shortCode"] = code
    if address := imported_address(draft):
        shown["shortUrl"] = address
    return shown


def imported_address(draft: Draft) -> str | None:
    """The short URL; None if the link has no code yet."""
    link = draft.link
    code = link.custom_code or link.short_code or draft.short_code
    return short_url(None if link.domain is None else link.domain.host, code) if code else None
