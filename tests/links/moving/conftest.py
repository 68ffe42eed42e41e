from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import key_client_in


@pytest.fixture
def there(alice: NewAccount, marketing: Workspace) -> APIClient:
    """alice in that workspace."""
    return key_client_in(marketing, alice.api_key)
