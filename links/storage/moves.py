"""Changes the workspace of links, in the caller's transaction.

Triggers move the searchable copies and the totals of links, tags and clicks. The history gets a row in each workspace.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from accounts.models import Workspace
from links.fields import UNIQUE
from links.selectors import fetch

# Locks in the order of every statement that locks several links.
_UNIQUE = [field.column for field in UNIQUE]
_LOCK = f"""
SELECT {", ".join(["id", "public_id", "domain_id IS NOT NULL", *_UNIQUE])} FROM links_link
WHERE owner_id = %(owner)s AND public_id = ANY(%(public_ids)s) ORDER BY id FOR UPDATE
"""  # noqa: S608 # composed of constants
# Before the totals, in the same order as a click.
_LOCK_COUNTERS = """
SELECT FROM links_clickcounter WHERE link_id = ANY(%(links)s) ORDER BY link_id FOR NO KEY UPDATE
"""
# A null creator means the account of the personal workspace; in a team, a deleted account. So a link without a creator
# becomes that of the account whose personal workspace it joins.
_MOVE = """
UPDATE links_link SET owner_id = %(target)s,
    creator_id = nullif(coalesce(creator_id, %(source_account)s::bigint), %(target_account)s::bigint),
    updated_at = greatest(updated_at + interval '1 microsecond', now())
WHERE id = ANY(%(links)s)
"""
_MOVE_COUNTERS = "UPDATE links_clickcounter SET owner_id = %(target)s WHERE link_id = ANY(%(links)s)"


class LockedLink(NamedTuple):
    """``values`` are those of unique fields, by their columns."""

    pk: int
    public_id: UUID
    is_on_domain: bool
    values: dict[str, Any]


def lock_links(owner: Workspace, public_ids: Sequence[UUID]) -> dict[UUID, LockedLink]:
    """The owner's links with these ids. Until the end of the transaction, only the caller changes them."""
    rows = fetch(_LOCK, {"owner": owner.pk, "public_ids": public_ids})
    return {
        public_id: LockedLink(pk, public_id, on_domain, dict(zip(_UNIQUE, values, strict=True)))
        for pk, public_id, on_domain, *values in rows
    }


def change_owner(link_ids: Collection[int], *, source: Workspace, target: Workspace) -> None:
    """The caller has locked the links."""
    values: dict[str, Any] = {
        "links": list(link_ids),
        "target": target.pk,
        "source_account": source.account_id,
        "target_account": target.account_id,
    }
    with connection.cursor() as cursor:
        for statement in (_LOCK_COUNTERS, _MOVE, _MOVE_COUNTERS):
            cursor.execute(statement, values)
