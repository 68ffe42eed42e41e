"""Renames, merges and deletes a tag in all links, and undoes that.

A change is decided in one short transaction, and carried out in batches, each in a transaction of its own, so that
nobody waits for more than a batch. A request carries out what it can within ``REQUEST_SECONDS``, and housekeeping the
rest. Passes are repeated until one finds nothing to change: links that got the tag meanwhile are changed, too.

The history has a row for each changed link, as after every other change. They have the id of the change instead of
that of a request, and undoing it sets these links back, except those whose tags have been changed since.

Redirects do not depend on tags, so no cached link is invalidated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import orjson
from django.db.models import QuerySet
from django.utils import timezone

from accounts.caps import lock_count
from accounts.history import author, name_author, record_change
from accounts.models import Workspace
from common.database import execute, fetch, in_one_transaction
from common.errors import Conflict, NotFound
from common.ids import find_by_public_id
from common.pages import Page, Window, page_of, rows_of
from links import rules, saved_views, searches
from links.models import UNDO_DAYS, Tag, TagAction, TagChange, TagChangeStatus
from links.selectors import tag_key
from links.tags.listing import TagRow, find_tag

# A batch holds the locks of so many links for about a tenth of a second.
BATCH = 200
REQUEST_SECONDS = 5.0
_RUNNING, _DONE = TagChangeStatus.RUNNING, TagChangeStatus.DONE
_UNDOING, _UNDONE = TagChangeStatus.UNDOING, TagChangeStatus.UNDONE
_UNFINISHED = (_RUNNING, _UNDOING)

# Locks in the order of every statement that locks several links.
_LOCK = """
SELECT id, tags FROM links_link WHERE id = ANY(%(links)s) AND owner_id = %(owner)s AND %(key)s = ANY(tag_keys)
ORDER BY id FOR NO KEY UPDATE
"""
_LOCK_CHANGED = """
SELECT public_id, id, tags FROM links_link WHERE public_id = ANY(%(links)s) AND owner_id = %(owner)s
ORDER BY id FOR NO KEY UPDATE
"""
_UPDATE = """
UPDATE links_link l SET tags = new.tags, tag_keys = new.tag_keys,
    updated_at = greatest(l.updated_at + interval '1 microsecond', now())
FROM jsonb_to_recordset(%(rows)s::jsonb) new (id bigint, tags text[], tag_keys text[])
WHERE l.id = new.id
"""
_BEGIN_BATCH = """
SELECT set_config('history.author', %(author)s, true), set_config('links.changes_tags', 'on', true)
FROM links_tagchange WHERE id = %(change)s AND status = %(status)s FOR UPDATE
"""
_HISTORY = """
SELECT id, object_id, before -> 'tags', after -> 'tags' FROM accounts_change
WHERE owner_id = %(owner)s AND id > %(position)s AND request_id = %(request)s
    AND action = 'link.updated'
ORDER BY id LIMIT %(limit)s
"""
_NEWEST = "SELECT coalesce(max(id), 0) FROM accounts_change WHERE owner_id = %(owner)s"


class TagExists(Conflict):
    code = "tag_exists"

    def __init__(self, name: str) -> None:
        super().__init__(f"The workspace has the tag {name} already. Merge the two with merge: true.")


class TagsBusy(Conflict):
    code = "tags_busy"
    message = "Another change of a tag is running in this workspace. Try again when it has finished."


class NotUndoable(Conflict):
    code = "not_undoable"
    message = f"Only a finished change can be undone, once, and within {UNDO_DAYS} days."


class Changed(NamedTuple):
    """``change`` is None if no link had to be changed."""

    tag: TagRow
    change: TagChange | None


def change_tag(owner: Workspace, name: str, *, merge: bool = False, **fields: Any) -> Changed:
    """``fields`` are a new ``name`` and a ``color``, each optional.

    Raises NotFound, TagExists or TagsBusy.
    """
    renamed, change = fields.pop("new_name", None), None
    if renamed is not None and renamed != _found(owner, name).name:
        change = _rename(owner, name, renamed, is_merging=merge)
        name = renamed
    if "color" in fields:
        in_one_transaction(lambda: _set_color(owner, name, fields["color"]))
    if change is not None:
        change = carry_out(change, seconds=REQUEST_SECONDS)
    return Changed(_found(owner, name), change)


def delete_tag(owner: Workspace, name: str) -> TagChange:
    """Take the tag off all links. Raises NotFound or TagsBusy."""

    def work() -> TagChange:
        _lock_changes(owner)
        return _begin(owner, _found(owner, name), TagAction.DELETED, None)

    return carry_out(in_one_transaction(work), seconds=REQUEST_SECONDS)


def undo_change(owner: Workspace, public_id: str) -> TagChange:
    """Set the links that a change has changed back, unless their tags have been changed since.

    Raises NotFound, NotUndoable or TagsBusy.
    """

    def work() -> TagChange:
        _lock_changes(owner)
        change = get_change(owner, public_id)
        if change.status != _DONE or change.undoable_until < timezone.now():
            raise NotUndoable
        change.status, change.author = _UNDOING, _author_of(change, "undo ")
        change.save(update_fields=["status", "author"])
        if change.new_key != change.key and change.had_row:
            values = {"name": change.name, "color": change.color}
            Tag.objects.get_or_create(owner=owner, key=change.key, defaults=values)
        if change.new_key is not None and change.makes_row:
            Tag.objects.filter(owner=owner, key=change.new_key).delete()
        if change.action == TagAction.RENAMED and change.new_key is not None:
            saved_views.replace_tag(owner, change.new_key, change.name)
        _record(change, "restored", before=change.new_name, after=change.name)
        return change

    return carry_out(in_one_transaction(work), seconds=REQUEST_SECONDS)


def list_changes(owner: Workspace, window: Window) -> Page[TagChange]:
    """One page, newest first."""
    changes = _kept().filter(owner=owner)
    return page_of(rows_of(changes, window, "-pk"), window, changes.count(), lambda change: (change.pk,))


def get_change(owner: Workspace, public_id: str) -> TagChange:
    """Raises NotFound."""
    change = find_by_public_id(_kept().filter(owner=owner), public_id)
    if change is None:
        raise NotFound("Change not found.")
    return change


def finish_tag_changes() -> None:
    """Carry out what requests have left, and delete changes that can no longer be undone."""
    running = TagChange.objects.filter(status__in=_UNFINISHED)
    for change in running.order_by("pk"):
        carry_out(change)
    _kept(is_kept=False).filter(status__in=[_DONE, _UNDONE]).delete()


def carry_out(change: TagChange, seconds: float | None = None) -> TagChange:
    """Change all links, or as many as is possible within so many seconds. Return the change as it is then."""
    deadline = None if seconds is None else time.monotonic() + seconds
    carry = _carry_out if change.status == _RUNNING else _carry_back
    for is_finished in carry(change):
        if is_finished:
            end = _DONE if change.status == _RUNNING else _UNDONE
            TagChange.objects.filter(pk=change.pk, status=change.status).update(status=end)
        elif deadline is not None and time.monotonic() > deadline:
            break
    change.refresh_from_db()
    return change


def _found(owner: Workspace, name: str) -> TagRow:
    found = find_tag(owner, name)
    if found is None:
        raise NotFound("Tag not found.")
    return found


def _lock_changes(owner: Workspace) -> None:
    """Until the commit, no other change of tags begins. Raises TagsBusy if one is running."""
    name_author()
    lock_count(owner)
    # Before the tags are read: those of a change that ends meanwhile would be former ones.
    if TagChange.objects.filter(owner=owner, status__in=_UNFINISHED).exists():
        raise TagsBusy


def _rename(owner: Workspace, name: str, new_name: str, *, is_merging: bool) -> TagChange:
    def work() -> TagChange:
        _lock_changes(owner)
        former = _found(owner, name)
        target = find_tag(owner, new_name) if tag_key(new_name) != former.key else None
        if target is not None and not is_merging:
            raise TagExists(target.name)
        # The links that already have the target keep its spelling.
        shown = new_name if target is None else target.name
        return _begin(owner, former, TagAction.RENAMED if target is None else TagAction.MERGED, shown)

    return in_one_transaction(work)


def _begin(owner: Workspace, former: TagRow, action: TagAction, new_name: str | None) -> TagChange:
    new_key = None if new_name is None else tag_key(new_name)
    had_row = Tag.objects.filter(owner=owner, key=former.key).exists()
    makes_row = new_key is not None and not Tag.objects.filter(owner=owner, key=new_key).exists()
    change = TagChange(
        owner=owner,
        action=action,
        key=former.key,
        name=former.name,
        new_key=new_key,
        new_name=new_name,
        color=former.color,
        had_row=had_row,
        makes_row=makes_row,
    )
    change.author = _author_of(change)
    _record(change, action, before=former.name, after=new_name)
    [(change.position,)] = fetch(_NEWEST, {"owner": owner.pk})
    change.save(force_insert=True)
    if new_key != former.key:
        Tag.objects.filter(owner=owner, key=former.key).delete()
    if makes_row and new_key is not None and new_name is not None:
        Tag.objects.create(owner=owner, key=new_key, name=new_name, color=former.color)
    elif action == TagAction.RENAMED:
        Tag.objects.filter(owner=owner, key=new_key).update(name=new_name)
    if new_name is not None:
        saved_views.replace_tag(owner, former.key, new_name)
    change.refresh_from_db()
    return change


def _record(change: TagChange, action: str, *, before: str | None, after: str | None) -> None:
    record_change(
        owner_id=change.owner_id,
        object_id=change.public_id,
        action=f"tag.{action}",
        before={} if before is None else {"name": before},
        after={} if after is None else {"name": after},
    )


def _author_of(change: TagChange, before: str = "") -> dict[str, Any]:
    """The author of the rows of the history, whose ``request`` is the change."""
    return {**orjson.loads(author()), "request": f"{before}{change.public_id}"}


def _set_color(owner: Workspace, name: str, color: str | None) -> None:
    name_author()
    lock_count(owner)
    former = _found(owner, name)
    if color == former.color:
        return
    tag, _ = Tag.objects.update_or_create(
        owner=owner,
        key=former.key,
        defaults={"color": color},
        create_defaults={"name": former.name, "color": color},
    )
    record_change(
        owner_id=owner.pk,
        object_id=tag.public_id,
        action="tag.updated",
        before={"name": former.name, "color": former.color},
        after={"color": color},
    )


def _kept(*, is_kept: bool = True) -> QuerySet[TagChange]:
    limit = timezone.now() - timedelta(days=UNDO_DAYS)
    if is_kept:
        return TagChange.objects.filter(created_at__gte=limit)
    return TagChange.objects.filter(created_at__lt=limit)


def _carry_out(change: TagChange) -> Iterator[bool]:
    """Change a batch of links at each step, which returns whether all are changed."""
    search = searches.Search("", (change.key,), None, None)
    query, values = searches.matching(search), search.values | {"owner": change.owner_id}
    changed = 1
    while changed:
        changed = 0
        remaining = iter([link for (link,) in fetch(query, values)])
        while links := list(islice(remaining, BATCH)):
            changed += in_one_transaction(partial(_change_batch, change, links))
            yield False
    yield True


def _change_batch(change: TagChange, links: list[int]) -> int:
    if not _begins_batch(change):
        return 0
    rows = fetch(_LOCK, {"links": links, "owner": change.owner_id, "key": change.key})
    changed = {link: new for link, tags in rows if (new := _changed_tags(change, tags)) != tags}
    _write(changed)
    execute(
        "UPDATE links_tagchange SET links = links + %(changed)s WHERE id = %(change)s",
        {"changed": len(changed), "change": change.pk},
    )
    return len(changed)


def _carry_back(change: TagChange) -> Iterator[bool]:
    """Like `_carry_out`, for the links in the history."""
    while in_one_transaction(partial(_restore_batch, change)):
        yield False
    yield True


def _restore_batch(change: TagChange) -> int:
    if not _begins_batch(change):
        return 0
    change.refresh_from_db(fields=["position"])
    rows = fetch(
        _HISTORY,
        {
            "owner": change.owner_id,
            "position": change.position,
            "request": str(change.public_id),
            "limit": BATCH,
        },
    )
    if not rows:
        return 0
    locked = {
        public_id: (link, tags)
        for public_id, link, tags in fetch(
            _LOCK_CHANGED, {"links": [row[1] for row in rows], "owner": change.owner_id}
        )
    }
    restored: dict[int, list[str]] = {}
    for _, public_id, before, after in rows:
        link, tags = locked.get(public_id, (0, None))
        if tags == orjson.loads(after):
            restored[link] = orjson.loads(before)
    _write(restored)
    execute(
        "UPDATE links_tagchange SET restored = restored + %(restored)s, position = %(position)s WHERE id = %(change)s",
        {"restored": len(restored), "position": rows[-1][0], "change": change.pk},
    )
    return len(rows)


def _begins_batch(change: TagChange) -> bool:
    """Whether there is still something to do. Until the commit, no other process carries out this change."""
    values = {"author": orjson.dumps(change.author).decode(), "change": change.pk, "status": change.status}
    return bool(fetch(_BEGIN_BATCH, values))


def _changed_tags(change: TagChange, tags: list[str]) -> list[str]:
    """The new tag takes the place of the former one, unless the link has it already."""
    kept = [tag for tag in tags if tag_key(tag) != change.key]
    if change.new_name is None or any(tag_key(tag) == change.new_key for tag in kept):
        return kept
    place = next(index for index, tag in enumerate(tags) if tag_key(tag) == change.key)
    return [*kept[:place], change.new_name, *kept[place:]]


def _write(tags_of_links: dict[int, list[str]]) -> None:
    if tags_of_links:
        rows = [{"id": link, **rules.column_values({"tags": tags})} for link, tags in tags_of_links.items()]
        execute(_UPDATE, {"rows": orjson.dumps(rows).decode()})
