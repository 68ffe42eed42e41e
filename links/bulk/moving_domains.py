"""Moves a domain to another workspace, together with all its links: all of it, or nothing.

A link keeps what it keeps when it moves alone (`links.bulk.moving`). Redirects continue throughout, and the domain
stays verified. Keys of the former workspace that are limited to the domain are deleted, as if the domain were. Codes
of deleted links are held for the new owner of the domain, so such a link comes back on the default domain.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db import IntegrityError, connection, transaction

from accounts.caps import lock_count
from accounts.history import name_author
from accounts.models import ScopedKey, User, Workspace
from accounts.rights import Role, links_per_month
from accounts.workspaces import require_member
from bans.services import is_owner_banned
from common.database import extend_response_timeout
from common.errors import Conflict, NotFound
from common.host import cache_versions
from domains.models import Domain
from domains.services import MANY_LINKS_SECONDS, require_place
from links.bulk.moving import SourceBanned, change_owner, charged_for_move, links_moved, target_workspace
from links.fields import UNIQUE
from links.models import Code, CodeKind
from links.selectors import fetch
from links.storage.quotas import spend_quota
from links.storage.unique_values import refused_values, with_free_values

_UNIQUE = [field.column for field in UNIQUE]
# Locks in the order of every statement that locks several links.
_LOCK_LINKS = f"""
SELECT {", ".join(["id", *_UNIQUE])} FROM links_link WHERE domain_id = %(domain)s ORDER BY id FOR UPDATE
"""  # noqa: S608 # composed of constants


class ClaimedThere(Conflict):
    code = "domain_exists"
    message = "The other workspace has added this domain, too. Delete it there first."


class MovedDomain(NamedTuple):
    domain: Domain
    links: int


def move_domain(*, source: Workspace, domain: Domain, target_id: str, actor: User) -> MovedDomain:
    """The actor must be an admin of both workspaces. The links count towards the quota of the target.

    Raises WorkspaceNotFound, NotFound, RoleRequired, SameWorkspace, SourceBanned, PlanWithoutDomains, CapReached,
    ClaimedThere, QuotaExceeded or ValueTaken.
    """
    target = target_workspace(source, target_id, actor, Role.ADMIN)
    with extend_response_timeout(MANY_LINKS_SECONDS):
        moved = with_free_values(lambda: _move(domain, source, target, actor))
    cache_versions.bump(hosts=[domain.host])
    return moved


def _move(domain: Domain, source: Workspace, target: Workspace, actor: User) -> MovedDomain:
    name_author()
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{MANY_LINKS_SECONDS}s'")
    # Every writer locks the domain's row before its links. Until the commit, no transaction puts a link on the domain.
    locked = Domain.objects.select_for_update().filter(pk=domain.pk, owner=source).first()
    if locked is None:
        raise NotFound("Domain not found.")
    rows = fetch(_LOCK_LINKS, {"domain": locked.pk})
    links = [row[0] for row in rows]
    # Until the commit, no other transaction deletes a workspace, adds objects to its counts or bans the source.
    lock_count(source, target)
    require_member(source, actor, Role.ADMIN)
    require_member(target, actor, Role.ADMIN)
    if is_owner_banned(source.pk):
        raise SourceBanned
    require_place(target, locked.host, source=source)
    wanted = {link: dict(zip(_UNIQUE, values, strict=True)) for link, *values in rows}
    for refusal in refused_values(wanted, target.pk, set()).values():
        raise refusal
    quota = links_per_month(target.plan)
    if links and quota:
        spend_quota(owners=charged_for_move(source, target), quota=quota, links=len(links))
    ScopedKey.objects.filter(workspace=source, domain_id=locked.pk).delete()
    Code.objects.filter(domain=locked, kind=CodeKind.RETIRED, owner=source).update(owner=target)
    _change_owner(locked, target)
    if links:
        change_owner(links, source=source, target=target)
        links_moved.send(sender=Workspace, source=source, target=target, links=links)
    return MovedDomain(locked, len(links))


def _change_owner(domain: Domain, target: Workspace) -> None:
    domain.owner = target
    try:
        with transaction.atomic():
            domain.save(update_fields=["owner"])
    except IntegrityError:
        raise ClaimedThere from None
