"""How much a workspace may hold: the number of its objects of one kind, and its stored bytes."""

from __future__ import annotations

from django.conf import settings

from accounts.models import StorageLimit, User, Workspace
from accounts.rights import Plan
from common.database import execute, fetch
from common.errors import Forbidden

# Locked in a fixed order, so that two transactions that lock the same workspaces cannot deadlock. With the owners of
# their limits, because all workspaces that share a limit are counted together.
_LOCK = """
SELECT FROM accounts_workspace WHERE id = ANY(ARRAY(
    SELECT unnest(%(owners)s::bigint[]) UNION
    SELECT accounts_limits_owner(owner) FROM unnest(%(owners)s::bigint[]) owner
)) ORDER BY id FOR NO KEY UPDATE
"""
_SHARING = "SELECT unnest(accounts_sharing(accounts_limits_owner(%s)))"
_LIMITS_OWNER = "SELECT accounts_limits_owner(%s)"


class CapReached(Forbidden):
    code = "quota_exceeded"

    def __init__(self, cap: int, objects: str) -> None:
        super().__init__(f"An account may have at most {cap} {objects}. Delete one first.")


def lock_count(*owners: Workspace) -> None:
    """Serialises transactions that create objects of these workspaces, or of those that share their limits, until they
    end. A count read after this call is still valid at the insert.
    """
    execute(_LOCK, {"owners": [owner.pk for owner in owners]})


def sharing_workspaces(owner: Workspace) -> list[int]:
    """The workspaces that have their limits together with this one, which is one of them.

    A team on the plan of the account that owns it shares the limits of that account. See the SQL functions in
    accounts/migrations/sql/shared_limits.sql.
    """
    return [workspace for (workspace,) in fetch(_SHARING, [owner.pk])]


def limits_owner(workspace: Workspace) -> int:
    """The workspace whose limits this one shares: its own, or the personal one of the account that owns it."""
    if workspace.is_personal:
        return int(workspace.pk)
    [(owner,)] = fetch(_LIMITS_OWNER, [workspace.pk])
    return int(owner)


def charged_workspaces(workspace: Workspace) -> list[int]:
    """The workspaces that pay for what is done in this one: itself and, on the free plan, the owner of its limits.

    Without the latter, a free account would get new limits with each workspace that it creates.
    """
    if workspace.is_personal or workspace.plan != Plan.FREE:
        return [workspace.pk]
    # In this order, so that no two transactions wait for each other.
    return list(dict.fromkeys([workspace.pk, limits_owner(workspace)]))


def lock_account(primary_key: int) -> None:
    """Serialises transactions that count objects of this account until they end.

    A transaction that also locks a workspace locks the workspace first.
    """
    User.objects.select_for_update(no_key=True).filter(pk=primary_key).values_list("pk").first()


MEGABYTE = 1_000_000

_STORED = "SELECT accounts_stored_bytes(ARRAY[%s]::bigint[])"


def stored_bytes(workspace: Workspace) -> int:
    [(stored,)] = fetch(_STORED, [workspace.pk])
    return int(stored)


def storage_limit(plan: str) -> int:
    """The most bytes that a workspace with this plan may store; 0: no limit."""
    return int(settings.STORAGE_LIMITS[plan]) * MEGABYTE


def write_storage_limits() -> None:
    """Tell the triggers the limits of the settings."""
    limits = {plan: limit for plan in settings.STORAGE_LIMITS if (limit := storage_limit(plan))}
    StorageLimit.objects.exclude(plan__in=limits).delete()
    StorageLimit.objects.bulk_create(
        [StorageLimit(plan=plan, bytes=limit) for plan, limit in limits.items()],
        update_conflicts=True,
        unique_fields=["plan"],
        update_fields=["bytes"],
    )
