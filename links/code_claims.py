"""Decides who has a code on a domain: claims of links, and holds on the codes of deleted links for their owners.

The unique constraint of the table decides which link gets a code; nothing is checked before a write. Every statement
claims its codes in the same order, so that concurrent statements cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from common.database import constraint_of, execute, fetch
from links.models import Code, CodeKind
from links.storage.columns import column_arrays

HOLD_DAYS = 30
CONSTRAINT = "code_unique"

# (domain id, code). The id is None for the default domain.
CodeKey = tuple[int | None, str]

# Two queries, because the index on codes begins with the domain.
_OWN = """
SELECT c.code FROM links_code c LEFT JOIN links_link l ON l.id = c.link_id
WHERE c.domain_id IS NULL AND c.code = ANY(%(codes)s) AND %(owner)s IN (l.owner_id, c.owner_id)
UNION
SELECT c.code FROM domains_domain d JOIN links_code c ON c.domain_id = d.id LEFT JOIN links_link l ON l.id = c.link_id
WHERE d.owner_id = %(owner)s AND c.code = ANY(%(codes)s) AND %(owner)s IN (l.owner_id, c.owner_id)
"""
_LOCK_DOMAIN = """
SELECT FROM domains_domain d JOIN links_link l ON l.domain_id = d.id
WHERE l.public_id = %(link)s FOR KEY SHARE OF d
"""
_IS_EXPIRED = Q(held_until__lt=Now())


class CodeClaim(NamedTuple):
    """A code that a new link claims. ``domain_id`` is None for the default domain."""

    domain_id: int | None
    code: str
    kind: CodeKind

    @property
    def key(self) -> CodeKey:
        return self.domain_id, self.code


def codes_of_new_link(domain_id: int | None, short_code: str, custom_code: str | None) -> list[CodeClaim]:
    """A link on a customer's domain also reserves its short code on the default domain.

    The link can then move there when its domain is deleted.
    """
    claims = [CodeClaim(domain_id, short_code, CodeKind.SHORT)]
    if custom_code is not None:
        claims.append(CodeClaim(domain_id, custom_code, CodeKind.CUSTOM))
    if domain_id is not None:
        claims.append(CodeClaim(None, short_code, CodeKind.RESERVED))
    return claims


def lock_domain_of(link: UUID | None) -> None:
    """Prevent deletion of a link's domain until the commit. A rename calls this before it locks the link.

    The deletion of a domain locks the domain and then its links. The reverse order would deadlock with it.
    """
    execute(_LOCK_DOMAIN, {"link": link})


def release_holds(codes: Iterable[CodeKey], *, owner_id: int) -> int:
    """Delete the holds on these codes that have expired or that belong to this owner, and return their number."""
    released = _IS_EXPIRED | Q(owner_id=owner_id)
    return sum(rows.filter(released, kind=CodeKind.RETIRED).delete()[0] for rows in _rows(codes))


def unavailable_codes(codes: Iterable[CodeKey], *, owner_id: int) -> set[CodeKey]:
    """Return the codes that this owner cannot claim now. Only the constraint decides about a later write."""
    claimable = Q(kind=CodeKind.RETIRED) & (_IS_EXPIRED | Q(owner_id=owner_id))
    return {key for rows in _rows(codes) for key in rows.exclude(claimable).values_list("domain_id", "code")}


def own_codes(codes: Iterable[str], *, owner_id: int) -> set[str]:
    """Return the codes that belong to a link of this owner, or are held for it, on the default or an own domain."""
    return {code for (code,) in fetch(_OWN, {"codes": list(codes), "owner": owner_id})}


def links_of(codes: Iterable[CodeKey], *, owner_id: int) -> dict[CodeKey, int]:
    """Return this owner's links by the codes under which visitors can follow them."""
    links: dict[CodeKey, int] = {}
    for rows in _rows(codes):
        followed = rows.filter(link__owner_id=owner_id).exclude(kind=CodeKind.RESERVED)
        links |= {
            (domain, code): link
            for domain, code, link in followed.values_list("domain_id", "code", "link__id")
        }
    return links


def delete_expired_holds() -> int:
    deleted, _ = Code.objects.filter(_IS_EXPIRED, kind=CodeKind.RETIRED).delete()
    return deleted


def codes_of(*links: int) -> list[str]:
    """Return every code of these links."""
    return [*Code.objects.filter(link_id__in=links).values_list("code", flat=True)]


def is_code_conflict(error: IntegrityError, code: str) -> bool:
    """Whether another row has this code: the unique constraint of the namespace rejected it."""
    cause: Any = error.__cause__
    return constraint_of(error) == CONSTRAINT and f", {code})" in (cause.diag.message_detail or "")


def _rows(codes: Iterable[CodeKey]) -> list[QuerySet[Code]]:
    """Return a query for the rows of these codes on each domain: the index on codes begins with the domain."""
    by_domain: dict[int | None, list[str]] = {}
    for domain_id, code in codes:
        by_domain.setdefault(domain_id, []).append(code)
    return [Code.objects.filter(domain=domain, code__in=group) for domain, group in by_domain.items()]


# Part of the statement that inserts one link, as ``link``. That statement fails if one of the codes is taken.
INSERT_CODES_OF_LINK = """
INSERT INTO links_code (domain_id, code, kind, link_id)
SELECT claim.domain_id, claim.code, claim.kind, link.id
FROM link, unnest(%(code_domains)s::bigint[], %(codes)s::text[], %(kinds)s::text[]) claim (domain_id, code, kind)
"""
# If several links claim the same code, the first one gets it.
_CLAIM = """
INSERT INTO links_code (domain_id, code, kind, link_id)
SELECT domain_id, code, kind, link_id
FROM unnest(%(domains)s::bigint[], %(codes)s::text[], %(kinds)s::text[], %(links)s::bigint[])
    WITH ORDINALITY claim (domain_id, code, kind, link_id, position)
ORDER BY code COLLATE "C", domain_id NULLS FIRST, position
ON CONFLICT (domain_id, code) DO NOTHING
RETURNING link_id, domain_id, code
"""
# A link may claim one of its own aliases again. A custom code that equals its short code keeps the kind "short".
_CLAIM_CUSTOM = """
INSERT INTO links_code AS c (domain_id, code, kind, link_id)
SELECT domain_id, code, 'custom', link_id
FROM unnest(%(domains)s::bigint[], %(codes)s::text[], %(links)s::bigint[]) claim (domain_id, code, link_id)
ORDER BY code COLLATE "C", domain_id NULLS FIRST
ON CONFLICT (domain_id, code) DO UPDATE
    SET kind = CASE c.kind WHEN 'short' THEN 'short' ELSE 'custom' END
    WHERE c.link_id = EXCLUDED.link_id AND c.kind <> 'reserved'
RETURNING link_id
"""
_TURN_INTO_ALIASES = """
UPDATE links_code c SET kind = 'alias'
FROM unnest(%(domains)s::bigint[], %(codes)s::text[], %(links)s::bigint[]) former (domain_id, code, link_id)
WHERE c.link_id = former.link_id AND c.domain_id IS NOT DISTINCT FROM former.domain_id AND c.code = former.code
  AND c.kind = 'custom'
"""


class CustomCode(NamedTuple):
    """A code that a link claims or gives up. ``domain_id`` is None for the default domain."""

    domain_id: int | None
    code: str
    link_id: int


def claim_codes(claims_by_link: Mapping[int, Iterable[CodeClaim]]) -> set[tuple[int, int | None, str]]:
    """Claim codes for new links. Return the successful claims as (link id, domain id, code)."""
    rows = [
        (claim.domain_id, claim.code, str(claim.kind), link_id)
        for link_id, claims in claims_by_link.items()
        for claim in claims
    ]
    return {
        (row[0], row[1], row[2]) for row in fetch(_CLAIM, column_arrays("domains codes kinds links", rows))
    }


def claim_custom_codes(codes: Sequence[CustomCode], *, owner_id: int) -> set[int]:
    """Claim different codes for links in the caller's transaction. Return the ids of the links that got theirs.

    A code is unavailable if another link has it, or if it is held for another owner.
    """
    successful = _claim_custom(codes)
    unavailable = [code for code in codes if code.link_id not in successful]
    if unavailable:
        # A hold may have expired. Check only after a conflict: few renames claim the code of a deleted link.
        release_holds([(code.domain_id, code.code) for code in unavailable], owner_id=owner_id)
        successful |= _claim_custom(unavailable)
    return successful


def turn_into_aliases(codes: Sequence[CustomCode]) -> None:
    """Turn former custom codes into aliases, which still redirect to their links."""
    execute(_TURN_INTO_ALIASES, column_arrays("domains codes links", codes))


def release_codes(link_ids: list[int]) -> None:
    """Delete all codes that these links have claimed."""
    Code.objects.filter(link_id__in=link_ids).delete()


def _claim_custom(codes: Sequence[CustomCode]) -> set[int]:
    return {link_id for (link_id,) in fetch(_CLAIM_CUSTOM, column_arrays("domains codes links", codes))}
