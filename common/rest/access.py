"""Says who may call an action of the API."""

from __future__ import annotations

from typing import NamedTuple


class Access(NamedTuple):
    """What an action requires: ``role`` in the caller's workspace, and ``scope`` of a key with scopes.

    Without a role, the action concerns the caller's own account, in any workspace. Without a scope, it refuses keys
    with scopes. ``limited``: it respects the limits of a key, which are its domain or the links that it created; all
    other actions refuse limited keys.
    """

    role: str | None
    scope: str | None
    limited: bool = False


OWN_ACCOUNT = Access(None, None)
