"""Fixtures of accounts and workspaces that several folders of tests need."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from accounts.models import User, Workspace
from accounts.services import NewAccount, create_account, rotate_api_key
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.accounts.workspaces import team


@pytest.fixture
def user(db: None) -> User:
    """Has no usable password: no test here sends one, and hashing takes time."""
    return User.objects.create(email="alice@example.com", password="!")


@pytest.fixture
def alice(db: None) -> NewAccount:
    """Has no usable password, either."""
    user = User.objects.create(email="alice@example.com", password="!")
    return NewAccount(user, "", rotate_api_key(user=user))


@pytest.fixture
def operator(db: None) -> User:
    """A superuser."""
    return create_account(email="operator@example.com", password=PASSWORD, superuser=True).user


@pytest.fixture
def mallory(stranger: NewAccount) -> APIClient:
    """The stranger's, with a token."""
    return bearer_client(stranger.user)


@pytest.fixture
def marketing(alice: NewAccount) -> Workspace:
    """A workspace of a team, which alice owns."""
    return team(alice, "Marketing")
