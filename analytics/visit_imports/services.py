"""Finds the links of imported visits, and adds the visits to their reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import NamedTuple
from urllib.parse import quote

from django.conf import settings

from accounts.models import Workspace
from analytics.counting.tables.imported_days import Days, add_days, new_clicks
from analytics.visit_imports.reader import ShortLink, Visits
from domains.models import Domain
from domains.selectors import verified_domains
from links.code_claims import CodeKey, links_of
from links.codes import is_inherited_code, short_url

# Days of links in one transaction.
BATCH = 20_000


class Matched(NamedTuple):
    """The visits of one short link in the file, or the reason why they have no link.

    ``address`` is percent-encoded: the file may contain control characters.
    """

    address: str
    link_id: int | None
    days: Counter[date]
    refusal: str = ""


class Added(NamedTuple):
    """A finished batch: the number of its visits, and of those that were new."""

    visits: int
    new: int


def match(
    owner: Workspace, visits: Visits, domain: Domain | None = None, *, on_base: bool = False
) -> list[Matched]:
    """Find each short link among the owner's links.

    Every visit is of a link on ``domain``, or with ``on_base`` on the default domain. Otherwise a visit stays on its
    host if that is a domain of the owner, and goes to the default domain if not, as in an import of links. But a code
    that several hosts have is refused on those that do not belong to the service: their links are different.
    """
    is_named = domain is not None or on_base
    domains = {} if is_named else {verified.host: verified for verified in verified_domains(owner)}
    ambiguous = set() if is_named else _ambiguous(visits, domains)
    chosen = {
        (host, code): domain if host is None else domains.get(host, domain) for host, code in visits.days
    }
    keys: dict[ShortLink, CodeKey] = {
        short_link: (None if target is None else target.pk, short_link[1])
        for short_link, target in chosen.items()
        if short_link not in ambiguous and is_inherited_code(short_link[1])
    }
    links = links_of(keys.values(), owner_id=owner.pk)
    return [
        Matched(f"{quote(str(host))}/{quote(code)}", None, days, "ambiguous_host")
        if (host, code) in ambiguous
        else _matched(
            chosen[host, code], code, days, links.get(keys[host, code]) if (host, code) in keys else None
        )
        for (host, code), days in visits.days.items()
    ]


def _matched(domain: Domain | None, code: str, days: Counter[date], link_id: int | None) -> Matched:
    address = short_url(None if domain is None else domain.host, quote(code))
    return Matched(address, link_id, days, "not_found" if link_id is None else "")


def _ambiguous(visits: Visits, domains: Mapping[str, Domain]) -> set[ShortLink]:
    """The short links on foreign hosts whose code another host of the file also has on the default domain."""
    on_default = [(host, code) for host, code in visits.days if host is not None and host not in domains]
    hosts = Counter(code for _, code in {(_site(host), code) for host, code in on_default})
    return {(host, code) for host, code in on_default if hosts[code] > 1 and host not in settings.BASE_HOSTS}


def _site(host: str) -> str:
    return settings.BASE_HOST if host in settings.BASE_HOSTS else host


def add(matches: list[Matched], *, dry_run: bool) -> Iterator[Added]:
    """Add the visits batch by batch, each in one transaction. Visits of an earlier import are not added again."""
    for batch in _batches(matches):
        yield Added(sum(batch.values()), sum(new_clicks(batch).values()) if dry_run else add_days(batch))


def _batches(matches: list[Matched]) -> Iterator[Days]:
    """Keep all days of a link in one batch: several short links may be of the same link."""
    by_link: dict[int, Counter[date]] = {}
    for matched in matches:
        if matched.link_id is not None:
            by_link.setdefault(matched.link_id, Counter()).update(matched.days)
    batch: dict[tuple[int, date], int] = {}
    for link_id, days in sorted(by_link.items()):
        batch |= _of_link(link_id, days)
        if len(batch) >= BATCH:
            yield batch
            batch = {}
    if batch:
        yield batch


def _of_link(link_id: int, days: Mapping[date, int]) -> dict[tuple[int, date], int]:
    return {(link_id, day): visits for day, visits in days.items()}
