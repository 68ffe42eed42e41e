"""Moves links to another workspace. Items fail independently.

A link keeps its id, codes, short URL, clicks, reports and restrictions. A link on a custom domain moves only with its
domain (`links.bulk.moving_domains`): a domain belongs to one workspace, and on another domain the short URL would
change.

Triggers move the searchable copies and the totals of links, tags and clicks. The history gets a row in each workspace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.dispatch import Signal

from accounts.callers import require_role
from accounts.caps import charged_workspaces, lock_count
from accounts.history import name_author
from accounts.models import User, Workspace
from accounts.rights import Role, links_per_month
from accounts.selectors import find_membership
from accounts.workspaces import require_member
from bans.services import is_owner_banned
from common.database import fetch
from common.errors import Conflict, FieldError, Forbidden, InvalidFields, ServiceError, WorkspaceNotFound
from common.host import cache_versions
from common.ids import parse_public_id
from links.clicks import wait_for_batches
from links.code_claims import codes_of
from links.errors import url_not_found
from links.fields import UNIQUE
from links.storage.quotas import links_left, quota_exceeded, spend_quota
from links.storage.unique_values import refused_values, with_free_values

_UNIQUE = [field.column for field in UNIQUE]
# Locks in the order of every statement that locks several links.
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
    wait_for_batches()
    with connection.cursor() as cursor:
        for statement in (_LOCK_COUNTERS, _MOVE, _MOVE_COUNTERS):
            cursor.execute(statement, values)


Verdict = UUID | ServiceError

# Sent in the transaction of a move, with ``source``, ``target`` and the primary keys of the ``links``. Receivers in
# the apps above move the objects of these links. A receiver that raises a ServiceError undoes the whole move.
links_moved = Signal()


class OnCustomDomain(Conflict):
    code = "on_custom_domain"
    message = "The URL is on a custom domain of its workspace. It moves only together with this domain."


class SourceBanned(Forbidden):
    code = "workspace_banned"
    message = "An operator has blocked the links of this workspace, so they cannot be moved."


class SameWorkspace(InvalidFields):
    def __init__(self) -> None:
        message = "Must be a workspace other than that of the request."
        super().__init__([FieldError("workspaceId", "same_workspace", message)])


def move_links(*, source: Workspace, target_id: str, actor: User, public_ids: Sequence[str]) -> list[Verdict]:
    """Move links, and return their ids or errors. Redirects continue throughout.

    The links count towards the target's monthly quota, as if they had been created there. Otherwise an account could
    evade the quota by creating links in further workspaces.

    Raises WorkspaceNotFound, RoleRequired, SameWorkspace, SourceBanned or CapReached, and then moves nothing.
    """
    target = target_workspace(source, target_id, actor, Role.EDITOR)
    identifiers = [parse_public_id(text) for text in public_ids]
    verdicts, codes = with_free_values(lambda: _move(source, target, actor, identifiers))
    cache_versions.bump(codes=codes)
    return verdicts


def target_workspace(source: Workspace, target_id: str, actor: User, required: Role) -> Workspace:
    """The other workspace, if the actor has the role in it.

    Raises WorkspaceNotFound, RoleRequired or SameWorkspace.
    """
    membership = find_membership(actor, target_id)
    if membership is None:
        raise WorkspaceNotFound
    require_role(Role(membership.role), required)
    if membership.workspace.pk == source.pk:
        raise SameWorkspace
    return membership.workspace


def _move(
    source: Workspace, target: Workspace, actor: User, identifiers: Sequence[UUID | None]
) -> tuple[list[Verdict], list[str]]:
    name_author()
    locked = lock_links(source, [identifier for identifier in identifiers if identifier is not None])
    # Until the commit, no other transaction deletes the target, adds objects to its counts or bans the source.
    lock_count(source, target)
    require_member(target, actor, Role.EDITOR)
    if is_owner_banned(source.pk):
        raise SourceBanned
    verdicts = list(_verdicts(identifiers, locked))
    values = {
        position: locked[verdict].values
        for position, verdict in enumerate(verdicts)
        if isinstance(verdict, UUID)
    }
    for position, refusal in refused_values(values, target.pk, set()).items():
        verdicts[position] = refusal
    verdicts = _within_quota(source, target, verdicts)
    moved = [locked[verdict].pk for verdict in verdicts if isinstance(verdict, UUID)]
    if not moved:
        return verdicts, []
    change_owner(moved, source=source, target=target)
    links_moved.send(sender=Workspace, source=source, target=target, links=moved)
    return verdicts, codes_of(*moved)


def _verdicts(identifiers: Iterable[UUID | None], locked: dict[UUID, LockedLink]) -> Iterable[Verdict]:
    remaining = dict(locked)
    for identifier in identifiers:
        # A second occurrence of an id counts as not found.
        link = None if identifier is None else remaining.pop(identifier, None)
        if link is None:
            yield url_not_found()
        else:
            yield OnCustomDomain() if link.is_on_domain else link.public_id


def charged_for_move(source: Workspace, target: Workspace) -> list[int]:
    """The workspaces that pay for links that move: those that have not paid when the links were created."""
    paid = charged_workspaces(source)
    return [owner for owner in charged_workspaces(target) if owner not in paid]


def _within_quota(source: Workspace, target: Workspace, verdicts: list[Verdict]) -> list[Verdict]:
    """Charge the accepted links to the quota. Refuse those beyond it.

    An account that pays for both workspaces has paid for the links when they were created.
    """
    quota = links_per_month(target.plan)
    accepted = [position for position, verdict in enumerate(verdicts) if isinstance(verdict, UUID)]
    if not quota or not accepted:
        return verdicts
    charged = charged_for_move(source, target)
    if not charged:
        return verdicts
    left = links_left(owners=charged, quota=quota, lock=True)
    for position in accepted[left:]:
        verdicts[position] = quota_exceeded(quota)
    if number := len(accepted[:left]):
        spend_quota(owners=charged, quota=quota, links=number)
    return verdicts
