"""Keys with scopes, and clients of the API with them."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from accounts.api_keys import NewKey, create_key
from accounts.models import User, Workspace
from accounts.rights import WORKSPACE_SCOPES, Scope
from testing.accounts.accounts import key_client


def scoped_key(workspace: Workspace, creator: User, *scopes: str, **limits: Any) -> NewKey:
    """A key with these scopes; with all that its limits allow if none is named."""
    allowed = [scope for scope in Scope if not limits or scope not in WORKSPACE_SCOPES]
    return create_key(
        workspace=workspace, creator=creator, name="Test", scopes=list(scopes or allowed), **limits
    )


def scoped_client(workspace: Workspace, creator: User, *scopes: str, **limits: Any) -> APIClient:
    return key_client(scoped_key(workspace, creator, *scopes, **limits).text)
