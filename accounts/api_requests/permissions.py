"""Which role and which scope each action requires."""

from __future__ import annotations

from typing import Any, cast

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.callers import Caller, require_role
from accounts.rights import CallerKey, Scope
from common.errors import KeyLimited, ScopeRequired

# The actions of methods that a route does not support: DRF has a name only for OPTIONS.
_NOT_ALLOWED = (None, "metadata")


class HasRole(BasePermission):
    """Compares the caller's role with that of the action in ``roles`` of the view. Refuses actions without an entry.

    If the caller has a key with scopes, it does the same with ``scopes`` and ``limited_keys`` of the view first.
    Refuses callers without a credential.

    Raises NotFound for a workspace of which the caller is not a member, as for an unknown one. Views that have the
    workspace in their path check it themselves.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        caller = cast("Caller | None", request.auth)
        if caller is None:
            return False
        if view.action not in view.roles:
            # DRF responds with 405 to a method that the route does not support.
            return view.action in _NOT_ALLOWED
        required = view.roles[view.action]
        if caller.key is not None:
            _require_scope(caller.key, view)
        if required is None or view.has_workspace_in_path:
            return True
        require_role(caller.role, required)
        return True


def _require_scope(key: CallerKey, view: Any) -> None:
    """Raises ScopeRequired or KeyLimited."""
    required = view.scopes.get(view.action)
    if required is None:
        raise KeyLimited(_WITHOUT_SCOPE)
    if not key.scopes & Scope(required).bit:
        raise ScopeRequired(required)
    if key.is_limited and view.action not in view.limited_keys:
        raise KeyLimited


_WITHOUT_SCOPE = "Keys with scopes cannot do this. Use a token or the account's own API key."
