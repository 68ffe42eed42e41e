from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from testing.accounts.workspaces import key_client_in, team


@pytest.fixture
def marketing(alice: NewAccount) -> Workspace:
    """A workspace of a team, which alice owns."""
    return team(alice, "Marketing")


@pytest.fixture
def there(alice: NewAccount, marketing: Workspace) -> APIClient:
    """alice in that workspace."""
    return key_client_in(marketing, alice.api_key)
