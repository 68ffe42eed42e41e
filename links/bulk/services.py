"""Many links in one call, each with its own result; items fail independently.

A verdict is the resulting link, or the error that a single call would raise. Each SQL statement covers all items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from accounts.history.recording import name_author
from accounts.models import User, Workspace
from common.database import in_one_transaction
from common.errors import FieldError, InvalidFields, ServiceError
from common.host import cache_versions
from common.ids import parse_public_id
from links import rules
from links.bulk.changes import Change, apply_changes
from links.bulk.drafting import Drafting
from links.bulk.storing import store_drafts
from links.code_claims import codes_of
from links.errors import url_not_found
from links.key_limits import condition_of
from links.models import Link
from links.selectors import fetch
from links.storage.deletion import delete_locked_links

MAX_ITEMS = 1_000

Verdict = Link | ServiceError
Result = TypeVar("Result")

# Ordered by id, as every statement that locks several links, to prevent deadlocks.
_LOCK = """
SELECT l.id, l.public_id FROM links_link l WHERE l.owner_id = %(owner)s AND l.public_id = ANY(%(public_ids)s) {limits}
ORDER BY l.id FOR UPDATE
"""


def create_links(
    *, owner: Workspace, creator: User | None = None, items: Iterable[Mapping[str, Any] | ServiceError]
) -> list[Verdict]:
    """Create a link from each item: the fields of a single creation, or the error of an earlier validation."""
    drafting = Drafting(owner, creator)
    stored = store_drafts(owner, [_attempt(item, drafting.draft) for item in items])
    return [result if isinstance(result, ServiceError) else result.link for result in stored]


def update_links(*, owner: Workspace, items: Iterable[Mapping[str, Any] | ServiceError]) -> list[Verdict]:
    """Update a link for each item, which has its ``public_id`` and changes. Later items with the same id fail."""
    seen: set[UUID] = set()
    changes = [_attempt(item, lambda fields: _change(fields, seen)) for item in items]
    valid = {index: change for index, change in enumerate(changes) if isinstance(change, Change)}
    verdicts, codes = in_one_transaction(lambda: _update(valid, owner)) if valid else ({}, [])
    cache_versions.bump(codes=codes)
    return [
        change if isinstance(change, ServiceError) else verdicts[index]
        for index, change in enumerate(changes)
    ]


def delete_links(*, owner: Workspace, public_ids: Sequence[str]) -> list[UUID | ServiceError]:
    """Delete links and return their ids or errors. The codes are reserved, as after a single deletion."""
    identifiers = [parse_public_id(text) for text in public_ids]
    valid = [identifier for identifier in identifiers if identifier is not None]
    deleted, codes = in_one_transaction(lambda: _delete(owner, valid))
    cache_versions.bump(codes=codes)
    verdicts: list[UUID | ServiceError] = []
    for public_id in identifiers:
        # The second occurrence of an id is not found.
        is_deleted = public_id in deleted
        deleted.discard(public_id)
        verdicts.append(public_id if public_id is not None and is_deleted else url_not_found())
    return verdicts


def _update(changes: Mapping[int, Change], owner: Workspace) -> tuple[dict[int, Verdict], list[str]]:
    name_author()
    verdicts = apply_changes(changes, owner)
    changed = [verdict.pk for verdict in verdicts.values() if isinstance(verdict, Link)]
    return verdicts, codes_of(*changed)


def _delete(owner: Workspace, public_ids: list[UUID]) -> tuple[set[UUID | None], list[str]]:
    name_author()
    limits, values = condition_of(owner.key)
    locked = dict(fetch(_LOCK.format(limits=limits), {**values, "owner": owner.pk, "public_ids": public_ids}))
    return set(locked.values()), delete_locked_links(list(locked))


def _change(item: Mapping[str, Any], seen: set[UUID]) -> Change:
    fields = dict(item)
    identifier = parse_public_id(fields.pop("public_id"))
    if identifier is None:
        raise url_not_found()
    if identifier in seen:
        raise InvalidFields(
            [FieldError("_id", "duplicate", "Duplicate: this URL appears earlier in the request.")]
        )
    seen.add(identifier)
    return Change(identifier, fields, rules.column_values(fields))


def _attempt(item: Any, make: Callable[[Any], Result]) -> Result | ServiceError:
    if isinstance(item, ServiceError):
        return item
    try:
        return make(item)
    except ServiceError as refusal:
        return refusal
