from __future__ import annotations

import pytest

from accounts.services import NewAccount
from domains.models import Domain


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace,
        domain="brand.example",
        subdomain="go",
        host="go.brand.example",
        status="active",
    )
