"""Caps on how many objects of one kind a workspace or an account can have."""

from __future__ import annotations

from django.db import connection

from accounts.models import Workspace
from common.errors import Forbidden

# Locked in a fixed order, so that two transactions that lock the same workspaces cannot deadlock.
_LOCK = "SELECT FROM accounts_workspace WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
_LOCK_ACCOUNT = "SELECT FROM accounts_user WHERE id = %s FOR NO KEY UPDATE"


class CapReached(Forbidden):
    code = "quota_exceeded"

    def __init__(self, cap: int, objects: str) -> None:
        super().__init__(f"An account may have at most {cap} {objects}. Delete one first.")


def lock_count(*owners: Workspace) -> None:
    """Serialises transactions that create objects of these workspaces until they end. A count read after this call is
    still valid at the insert.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [[owner.pk for owner in owners]])


def lock_account(primary_key: int) -> None:
    """Serialises transactions that count objects of this account until they end.

    A transaction that also locks a workspace locks the workspace first.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ACCOUNT, [primary_key])
