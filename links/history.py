"""Reads the history of single links and restores former values."""

from __future__ import annotations

from typing import Any, NamedTuple

from accounts.history import ChangePage, get_change, list_changes
from accounts.models import Workspace
from common.ids import parse_public_id
from common.rest.unknown_fields import Handling
from links.errors import NotRestorable, url_not_found
from links.models import Link
from links.selectors import get_link
from links.serializers import UpdateLinkSerializer
from links.services import update_link

# Updates cannot change these.
_FIXED = frozenset(("domainId", "originalUrl", "shortCode"))
# The history records only whether these had a value.
_HIDDEN = frozenset(("password",))
_SERIALIZER = UpdateLinkSerializer()


class Restored(NamedTuple):
    """``names`` are the restored fields of the API, ``skipped`` the other fields of the change."""

    link: Link
    names: frozenset[str]
    skipped: frozenset[str]


def link_history(owner: Workspace, public_id: str, *, limit: int, cursor: str | None = None) -> ChangePage:
    """A page of the changes of a link, which may be deleted. Raises NotFound if the owner has no such link."""
    identifier = parse_public_id(public_id)
    if identifier is None:
        raise url_not_found()
    page = list_changes(owner, limit=limit, cursor=cursor, object_id=identifier, kind="link")
    if not page.changes:
        get_link(owner, public_id)
    return page


def restore_change(*, owner: Workspace, public_id: str, change_id: str) -> Restored:
    """Set the fields of a change to their values before it, in an update with all its checks.

    Raises NotFound, NotRestorable, InvalidFields or Conflict, and then changes nothing.
    """
    link = get_link(owner, public_id)
    change = get_change(owner, link.public_id, change_id)
    former = {name: value for name, value in change.before.items() if _is_restorable(name, value)}
    if not former:
        raise NotRestorable
    fields, _ = Handling(is_strict=False).read(_SERIALIZER, former)
    restored = update_link(owner=owner, public_id=public_id, changes=fields)
    return Restored(restored, frozenset(former), frozenset(change.before.keys() - former.keys()))


def _is_restorable(name: str, value: Any) -> bool:
    return name not in _FIXED and (name not in _HIDDEN or value is None)
