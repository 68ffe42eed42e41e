"""The caller of a request, the workspace in which it acts, and the caller's role there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from rest_framework.request import Request

from accounts.caps import charged_workspaces
from accounts.models import User, Workspace
from accounts.rights import CallerKey, Role, Scope
from common import instances
from common.errors import RoleRequired, ScopeRequired, WorkspaceNotFound
from limits.rates import Count

# ``last_used_at`` of a session and of a key is exact to this number of seconds, so that a busy one causes one write a
# minute.
USE_SECONDS = 60

_FIELDS = list(Workspace._meta.concrete_fields)
_NAMES = [field.attname for field in _FIELDS]
COLUMNS = [field.column for field in _FIELDS]
# For a statement that authenticates and has the account's row in the CTE ``account``. Without the header, the row of
# the account determines the workspace, and nothing is read.
MEMBERSHIP = f"""
SELECT {", ".join(f"w.{column}" for column in COLUMNS)}, m.role
FROM account JOIN accounts_member m ON m.user_id = account.id JOIN accounts_workspace w ON w.id = m.workspace_id
WHERE w.public_id = %(workspace)s::uuid
"""  # noqa: S608 # composed of constants
# The second count of a request in a team's workspace on the free plan, after that of the workspace; see
# `accounts.caps.charged_workspaces`. Of several counts, the highest decides.
CHARGED_OWNER = """
SELECT int8send(owner) FROM (SELECT {workspace} AS id FROM {source} WHERE {plan} = 'free' AND {account} IS NULL) team,
accounts_limits_owner(team.id) owner WHERE owner <> team.id AND 'free' <> ALL (%(unlimited)s::text[])
"""
HIGHEST_COUNT = "(SELECT requests, reset FROM count ORDER BY requests DESC LIMIT 1)"


class Caller(NamedTuple):
    """The result of authentication.

    ``account`` is None for a key that belongs to its workspace.
    ``workspace`` and ``role`` are None if the request names a workspace of which the account is not a member.
    ``counted`` is the count of the caller's requests if authentication counted this one, ``session`` the primary
    key of the session if it was by token, and ``key`` the key with scopes if it was by one. A key with scopes always
    has its workspace, and no role if the request names another one. ``token`` has the issuer and the subject of the
    token that acts as this key.
    """

    account: User | None
    workspace: Workspace | None
    role: Role | None
    counted: Count | None = None
    session: int | None = None
    key: CallerKey | None = None
    token: tuple[str, str] | None = None

    @property
    def id(self) -> int:
        """The number of the account or, for a key that belongs to its workspace, that of the workspace.

        It is also the number of a workspace: a personal one has the number of its account, and no team has that of an
        account.
        """
        return int(cast("User | Workspace", self.account or self.workspace).pk)

    @property
    def subjects(self) -> list[bytes]:
        """The owners of the request limits, as subjects of `limits.rates`."""
        owners = [self.id] if self.workspace is None else charged_workspaces(self.workspace)
        return [int(owner).to_bytes(8, "big", signed=True) for owner in owners]

    @property
    def plan(self) -> str:
        return cast(User, self.account).plan if self.workspace is None else self.workspace.plan


def caller_of(request: Request) -> Caller:
    """Only for views that require a credential."""
    return cast(Caller, request.auth)


def account_of(request: Request) -> User:
    """The caller's account. Only for actions that no key of a workspace can call: see `MEMBER_SCOPES`."""
    account = caller_of(request).account
    assert account is not None  # noqa: S101 # `HasRole` has refused such a caller
    return account


def author_of(request: Request) -> User | None:
    """The caller's account; None for a key that belongs to its workspace. Only for views that require a credential."""
    return caller_of(request).account


def workspace_of(request: Request) -> Workspace:
    """The workspace in which the caller acts. Only for actions that require a role."""
    workspace = caller_of(request).workspace
    assert workspace is not None  # noqa: S101 # `HasRole` has refused such a caller
    return workspace


def session_of(request: Request) -> int:
    """The primary key of the caller's session. Only for views that take nothing but a token."""
    session = caller_of(request).session
    assert session is not None  # noqa: S101 # the view accepts tokens only
    return session


def personal_workspace(account: User) -> Workspace:
    """The personal workspace of an account, without a query: the row of the account determines it."""
    # The name is deferred.
    columns = {
        "id": account.id,
        "public_id": account.public_id,
        "account_id": account.id,
        "team_plan": None,
        "created_at": account.created_at,
    }
    return instances.saved(Workspace, columns, {"account": account})


def read_membership(account: User | None, row: Sequence[Any]) -> tuple[Workspace | None, Role | None]:
    """``row`` has the columns of `MEMBERSHIP`: nulls if the account is not a member."""
    *values, role = row
    if role is None:
        return None, None
    workspace = instances.saved(Workspace, dict(zip(_NAMES, values, strict=True)))
    if workspace.is_personal:
        workspace._state.fields_cache["account"] = account
    return workspace, Role(role)


def require_scope(owner: Workspace, scope: Scope) -> None:
    """Raises ScopeRequired if the caller has a key with scopes, but without this one."""
    if owner.key is not None and not owner.key.scopes & scope.bit:
        raise ScopeRequired(scope)


def require_role(role: Role | None, required: str) -> None:
    """Raises RoleRequired, or NotFound for an account without any role."""
    if role is None:
        raise WorkspaceNotFound
    if not role.includes(required):
        raise RoleRequired(required)
