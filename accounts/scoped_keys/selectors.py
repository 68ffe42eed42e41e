"""Reads of keys with scopes."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.models import ScopedKey, User, Workspace
from accounts.rights import Role
from common.pages import Page


def list_keys(workspace: Workspace, account: User, role: Role, *, page: int, limit: int) -> Page[ScopedKey]:
    """The newest first; empty beyond the last page."""
    keys, offset = visible_keys(workspace, account, role), (page - 1) * limit
    return Page(list(keys[offset : offset + limit]), keys.count())


def visible_keys(workspace: Workspace, account: User, role: Role) -> QuerySet[ScopedKey]:
    """The account's own keys of this workspace, newest first. An admin sees those of all members."""
    keys = ScopedKey.objects.filter(workspace=workspace).select_related("user").order_by("-id")
    return keys if role.includes(Role.ADMIN) else keys.filter(user=account)
