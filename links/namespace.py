"""Who holds which code on which domain. The database's unique constraint decides; nothing is checked beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, connection

from links.models import CodeKind
from links.selectors import fetch

HOLD_DAYS = 30
CONSTRAINT = "code_unique"

_FREE = """
DELETE FROM links_code
WHERE domain_id IS NOT DISTINCT FROM %(domain)s AND code = %(code)s AND kind = 'retired'
  AND (held_until < now() OR owner_id = %(owner)s)
"""
# Told apart, as an index knows no "is not distinct from".
_ON_DOMAIN = {True: "domain_id IS NULL", False: "domain_id = %(domain)s"}
_FREE_MANY = """
DELETE FROM links_code WHERE {on_domain} AND code = ANY(%(codes)s) AND kind = 'retired'
  AND (held_until < now() OR owner_id = %(owner)s)
"""
_TAKEN = """
SELECT code FROM links_code WHERE {on_domain} AND code = ANY(%(codes)s)
  AND (kind <> 'retired' OR (held_until >= now() AND owner_id IS DISTINCT FROM %(owner)s))
"""

# Renaming back takes an alias up again, and a short code of the link's own stays what it is.
_TAKE = """
INSERT INTO links_code AS c (domain_id, code, kind, link_id) VALUES (%(domain)s, %(code)s, 'custom', %(link)s)
ON CONFLICT (domain_id, code) DO UPDATE
    SET kind = CASE c.kind WHEN 'short' THEN 'short' ELSE 'custom' END
    WHERE c.link_id = EXCLUDED.link_id AND c.kind <> 'reserved'
RETURNING true
"""

_RENOUNCE = """
UPDATE links_code SET kind = 'alias'
WHERE link_id = %(link)s AND domain_id IS NOT DISTINCT FROM %(domain)s AND code = %(code)s AND kind = 'custom'
"""

_HOLD_DOMAIN = """
SELECT FROM domains_domain d JOIN links_link l ON l.domain_id = d.id
WHERE l.public_id = %(link)s FOR KEY SHARE OF d
"""

_FORGET = "DELETE FROM links_code WHERE kind = 'retired' AND held_until < now()"


# A code on a domain; None is the default one.
Place = tuple[int | None, str]


class Taken(NamedTuple):
    domain_id: int | None
    code: str
    kind: CodeKind


def codes_of_new_link(domain_id: int | None, short_code: str, custom_code: str | None) -> list[Taken]:
    """A link on a customer's domain also holds its short code at home, so that it can always come back."""
    codes = [Taken(domain_id, short_code, CodeKind.SHORT)]
    if custom_code is not None:
        codes.append(Taken(domain_id, custom_code, CodeKind.CUSTOM))
    if domain_id is not None:
        codes.append(Taken(None, short_code, CodeKind.RESERVED))
    return codes


def hold_domain_of(link: UUID | None) -> None:
    """Before a link is locked to be renamed: its domain is not deleted before the commit.

    Who deletes it holds the domain and then wants its links; a rename that held the link first would want the domain.
    """
    _execute(_HOLD_DOMAIN, link=link)


def free_lapsed_hold(*, domain_id: int | None, code: str, owner_id: int) -> bool:
    """Frees a deleted link's code when its hold is over, or for the one it is held for; whether it did."""
    return _execute(_FREE, domain=domain_id, code=code, owner=owner_id) > 0


def free_lapsed_holds(codes: Iterable[Place], *, owner_id: int) -> None:
    """The same of many."""
    for domain_id, texts in _by_domain(codes).items():
        query = _FREE_MANY.format(on_domain=_ON_DOMAIN[domain_id is None])
        _execute(query, domain=domain_id, codes=texts, owner=owner_id)


def taken(codes: Iterable[Place], *, owner_id: int) -> set[Place]:
    """Which of them this owner cannot have now. The next moment this may be untrue: the constraint decides."""
    found: set[Place] = set()
    for domain_id, texts in _by_domain(codes).items():
        query = _TAKEN.format(on_domain=_ON_DOMAIN[domain_id is None])
        values = {"domain": domain_id, "codes": texts, "owner": owner_id}
        found |= {(domain_id, code) for (code,) in fetch(query, values)}
    return found


def _by_domain(codes: Iterable[Place]) -> dict[int | None, list[str]]:
    found: dict[int | None, list[str]] = {}
    for domain_id, code in codes:
        found.setdefault(domain_id, []).append(code)
    return found


def take_custom_code(*, domain_id: int | None, code: str, link_id: int, owner_id: int) -> bool:
    """Within a transaction; False when the code is somebody else's, or another link's."""
    if _execute(_TAKE, domain=domain_id, code=code, link=link_id):
        return True
    free_lapsed_hold(domain_id=domain_id, code=code, owner_id=owner_id)
    return _execute(_TAKE, domain=domain_id, code=code, link=link_id) > 0


def renounce_custom_code(*, domain_id: int | None, code: str, link_id: int) -> None:
    """A former custom code goes on leading to its link."""
    _execute(_RENOUNCE, domain=domain_id, code=code, link=link_id)


def forget_lapsed_holds() -> int:
    return _execute(_FORGET)


def codes_of(*links: int) -> list[str]:
    """Every code that leads to them."""
    found = fetch("SELECT code FROM links_code WHERE link_id = ANY(%(links)s)", {"links": list(links)})
    return [code for (code,) in found]


def is_taken(error: IntegrityError, code: str) -> bool:
    """Whether the unique constraint of the namespace was broken by this code."""
    diagnostics: Any = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None) == CONSTRAINT and f", {code})" in (
        diagnostics.message_detail or ""
    )


def _execute(query: str, **values: str | int | UUID | list[str] | None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return int(cursor.rowcount)
