"""Claims codes for links. The unique constraint of the namespace decides which link gets a code.

Every statement claims its codes in the same order, so that concurrent statements cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import connection

from links.codes.namespace import CodeClaim, release_holds
from links.selectors import fetch
from links.storage.many_rows import column_arrays

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
_RELEASE = "DELETE FROM links_code WHERE link_id = ANY(%(links)s)"


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
    with connection.cursor() as cursor:
        cursor.execute(_TURN_INTO_ALIASES, column_arrays("domains codes links", codes))


def release_codes(link_ids: list[int]) -> None:
    """Delete all codes that these links have claimed."""
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE, {"links": link_ids})


def _claim_custom(codes: Sequence[CustomCode]) -> set[int]:
    return {link_id for (link_id,) in fetch(_CLAIM_CUSTOM, column_arrays("domains codes links", codes))}
