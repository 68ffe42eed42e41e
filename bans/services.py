"""Creating, lifting and asking for bans. A change takes effect on every worker once the caller's transaction commits.

A ban can affect any number of links, so each change invalidates every cache entry.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db import transaction

from accounts.caps import lock_count
from accounts.models import Workspace
from bans.hosts import canonical_host
from bans.models import Ban
from common.database import fetch
from common.host import cache_versions


class Affected(NamedTuple):
    """The links that a ban would block, and the accounts that own them. ``is_complete``: there are no more."""

    links: int
    accounts: int
    is_complete: bool = True


def is_host_banned(url: str) -> bool:
    """Whether a ban applies to the host of a canonical URL, or to a domain above it."""
    [(is_banned,)] = fetch("SELECT bans_is_host_banned(%s)", [url])
    return bool(is_banned)


def is_owner_banned(owner_id: int) -> bool:
    """Whether a ban applies to all links of a workspace."""
    return Ban.objects.filter(owner_id=owner_id).exists()


def ban_host(*, host: str, reason: str = "") -> Ban:
    """Block redirects to this host and its subdomains, and refuse new links to them. An existing ban stays as it is.

    ``host`` is anything that `canonical_host` accepts. Raises InvalidFields.
    """
    ban, _ = Ban.objects.get_or_create(host=canonical_host(host), defaults={"reason": reason})
    cache_versions.bump_all()
    return ban


def ban_account(*, owner: Workspace, reason: str = "") -> Ban:
    """Block the existing links of the workspace and every link that is created in it later."""
    with transaction.atomic():
        # A move checks the bans under this lock, so no link leaves the workspace after the ban.
        lock_count(owner)
        ban, _ = Ban.objects.get_or_create(owner=owner, defaults={"reason": reason})
    cache_versions.bump_all()
    return ban


def lift_ban(*, ban: Ban) -> None:
    Ban.objects.filter(pk=ban.pk).delete()
    cache_versions.bump_all()
