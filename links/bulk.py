"""Many links in one call, each with a verdict of its own: what one is refused for is no matter of the others.

A verdict is the link, as it is then, or what the single call would have raised. Statements are made for all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection

from accounts.models import User
from common import versions
from common.database import in_one_transaction
from common.errors import FieldError, InvalidFields, ServiceError
from common.ids import parse_public_id
from links import namespace, rules
from links.bulk_changes import Change, apply_changes
from links.drafts import Drafting
from links.models import Link
from links.storing import store_drafts

MAX_ITEMS = 1_000

Verdict = Link | ServiceError
Result = TypeVar("Result")

# In the order of their keys, as every statement that wants several.
_LOCK = """
SELECT id, public_id FROM links_link WHERE owner_id = %s AND public_id = ANY(%s) ORDER BY id FOR UPDATE
"""
_DELETE = f"""
WITH held AS (
    UPDATE links_code SET kind = 'retired', link_id = NULL, owner_id = links_link.owner_id,
        held_until = now() + interval '{namespace.HOLD_DAYS} days'
    FROM links_link WHERE links_link.id = ANY(%(links)s) AND link_id = links_link.id
    RETURNING code
), counters AS (
    DELETE FROM links_clickcounter WHERE link_id = ANY(%(links)s)
), deleted AS (
    DELETE FROM links_link WHERE id = ANY(%(links)s)
)
SELECT code FROM held
"""  # noqa: S608 # put together from constants


def create_links(*, owner: User, items: Iterable[Mapping[str, Any] | ServiceError]) -> list[Verdict]:
    """Of each item the fields of a single creation, or what they were refused for already."""
    drafting = Drafting(owner)
    stored = store_drafts(owner, [_attempt(item, drafting.draft) for item in items])
    return [each if isinstance(each, ServiceError) else each.link for each in stored]


def update_links(*, owner: User, items: Iterable[Mapping[str, Any] | ServiceError]) -> list[Verdict]:
    """Of each item the changes and the ``public_id``; what stands twice is changed by the first alone."""
    seen: set[UUID] = set()
    changes = [_attempt(item, lambda found: _change(found, seen)) for item in items]
    wanted = {place: change for place, change in enumerate(changes) if isinstance(change, Change)}
    verdicts, codes = in_one_transaction(lambda: _update(wanted, owner)) if wanted else ({}, [])
    versions.bump(codes=codes)
    return [
        change if isinstance(change, ServiceError) else verdicts[place]
        for place, change in enumerate(changes)
    ]


def delete_links(*, owner: User, public_ids: Sequence[str]) -> list[UUID | ServiceError]:
    """The ids of those that are gone now. Their codes are held back, as one's that is deleted alone."""
    asked = [parse_public_id(text) for text in public_ids]
    known = [each for each in asked if each is not None]
    deleted, codes = in_one_transaction(lambda: _delete(owner, known))
    versions.bump(codes=codes)
    verdicts: list[UUID | ServiceError] = []
    for public_id in asked:
        # What stands twice is gone the second time.
        is_deleted = public_id in deleted
        deleted.discard(public_id)
        verdicts.append(public_id if public_id is not None and is_deleted else rules.no_url())
    return verdicts


def _update(changes: Mapping[int, Change], owner: User) -> tuple[dict[int, Verdict], list[str]]:
    verdicts = apply_changes(changes, owner)
    changed = [verdict.pk for verdict in verdicts.values() if isinstance(verdict, Link)]
    return verdicts, namespace.codes_of(*changed)


def _delete(owner: User, public_ids: list[UUID]) -> tuple[set[UUID | None], list[str]]:
    with connection.cursor() as cursor:
        # Locked first: the statement must see the codes that a rename in progress is about to commit.
        cursor.execute(_LOCK, [owner.pk, public_ids])
        found = dict(cursor.fetchall())
        cursor.execute(_DELETE, {"links": list(found)})
        codes = [code for (code,) in cursor.fetchall()]
    return set(found.values()), codes


def _change(item: Mapping[str, Any], seen: set[UUID]) -> Change:
    given = dict(item)
    identifier = parse_public_id(given.pop("public_id"))
    if identifier is None:
        raise rules.no_url()
    if identifier in seen:
        raise InvalidFields([FieldError("_id", "duplicate", "Stands further up already.")])
    seen.add(identifier)
    return Change(identifier, given, rules.changed_fields(given))


def _attempt(item: Any, make: Callable[[Any], Result]) -> Result | ServiceError:
    if isinstance(item, ServiceError):
        return item
    try:
        return make(item)
    except ServiceError as refusal:
        return refusal
