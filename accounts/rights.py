"""What plans, roles and scopes allow, and how keys begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import TextChoices

# Here, because redirects know them, too, and load neither keys nor DRF.
ACCOUNT_KEY_PREFIX = "sl_live_"
SCOPED_KEY_PREFIX = "sl_key_"
KEY_PREFIXES = (ACCOUNT_KEY_PREFIX, SCOPED_KEY_PREFIX)


class Plan(models.TextChoices):
    FREE = "free", "Free"
    PRO = "pro", "Pro"
    ENTERPRISE = "enterprise", "Enterprise"


def allows_custom_domains(plan: str) -> bool:
    return plan in (Plan.PRO, Plan.ENTERPRISE)


def requests_per_minute(plan: str) -> int:
    """API requests per minute; 0: no limit."""
    allowed: int = settings.RATE_LIMITS[plan]
    return allowed


def plans_without_request_limit() -> list[str]:
    return [plan for plan, allowed in settings.RATE_LIMITS.items() if not allowed]


def links_per_month(plan: str) -> int:
    """Links that can be created in a month; 0: no limit."""
    allowed: int = settings.LINK_QUOTAS[plan]
    return allowed


class Role(TextChoices):
    """Each role includes those before it."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"
    OWNER = "owner", "Owner"

    def includes(self, other: str) -> bool:
        return _ROLE_ORDER[self] >= _ROLE_ORDER[other]


_ROLE_ORDER: dict[str, int] = {role: position for position, role in enumerate(Role)}


class Scope(TextChoices):
    """No scope includes another one. Their order determines the stored bits: append new ones."""

    URLS_READ = "urls:read", "Read links and QR codes"
    URLS_WRITE = "urls:write", "Create, change and delete links"
    ANALYTICS_READ = "analytics:read", "Read reports"
    DOMAINS_READ = "domains:read", "Read domains"
    DOMAINS_WRITE = "domains:write", "Add, verify, change and delete domains"
    QR_WRITE = "qr:write", "Create and delete QR codes"
    MEMBERS_READ = "members:read", "Read the workspace, its members and invitations"
    MEMBERS_WRITE = "members:write", "Manage the workspace, its members and invitations"
    WEBHOOKS_WRITE = "webhooks:write", "Read and manage webhooks"
    # Of its own: it reaches another workspace than that of the key.
    URLS_MOVE = "urls:move", "Move links to other workspaces of its creator"

    @property
    def bit(self) -> int:
        return _SCOPE_BITS[self]


_SCOPE_BITS = {scope: 1 << position for position, scope in enumerate(Scope)}
# They concern the whole workspace, so a key that is limited to some of its links cannot have them.
WORKSPACE_SCOPES = frozenset(
    {Scope.DOMAINS_WRITE, Scope.MEMBERS_READ, Scope.MEMBERS_WRITE, Scope.WEBHOOKS_WRITE, Scope.URLS_MOVE}
)

# They act in the name of a member, so a key that belongs to a workspace cannot have them. With the first, a removed
# member who copied such a key could return.
MEMBER_SCOPES = frozenset({Scope.MEMBERS_WRITE, Scope.URLS_MOVE})


def bits_of(scopes: Iterable[str]) -> int:
    bits = 0
    for scope in scopes:
        bits |= _SCOPE_BITS[Scope(scope)]
    return bits


def scopes_of(bits: int) -> list[Scope]:
    return [scope for scope, bit in _SCOPE_BITS.items() if bits & bit]


class CallerKey(NamedTuple):
    """The key with scopes by which a request was authenticated. ``id`` is its primary key, ``public_id`` its API id.

    ``domain_id`` limits it to the links on this domain, and ``only_own`` to the links that it created.
    """

    id: int
    public_id: UUID
    scopes: int
    domain_id: int | None
    only_own: bool

    @property
    def is_limited(self) -> bool:
        return self.domain_id is not None or self.only_own
