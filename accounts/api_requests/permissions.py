"""Which role and which scope each action requires."""

from __future__ import annotations

from typing import Any, cast

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.callers import Caller, require_role
from accounts.rights import CallerKey, Scope
from common.errors import KeyLimited, ScopeRequired
from common.rest.access import Access

# The actions of methods that a route does not support: DRF has a name only for OPTIONS.
_NOT_ALLOWED = (None, "metadata")


class HasRole(BasePermission):
    """Compares the caller's role, and first the scopes and limits of a key, with `Access` of the action in the view.

    Refuses actions without an entry, and callers without a credential.

    Raises NotFound for a workspace of which the caller is not a member, as for an unknown one. Views that have the
    workspace in their path check it themselves.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        caller = cast("Caller | None", request.auth)
        if caller is None:
            return False
        access: Access | None = view.access.get(view.action)
        if access is None:
            # DRF responds with 405 to a method that the route does not support.
            return view.action in _NOT_ALLOWED
        if caller.key is not None:
            _require_scope(caller.key, access)
        if access.role is not None and not view.has_workspace_in_path:
            require_role(caller.role, access.role)
        return True


def _require_scope(key: CallerKey, access: Access) -> None:
    """Raises ScopeRequired or KeyLimited."""
    if access.scope is None:
        raise KeyLimited(_WITHOUT_SCOPE)
    if not key.scopes & Scope(access.scope).bit:
        raise ScopeRequired(access.scope)
    if key.is_limited and not access.limited:
        raise KeyLimited


_WITHOUT_SCOPE = "Keys with scopes cannot do this. Use a token or the account's own API key."
