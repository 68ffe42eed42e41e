from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.hashers import Argon2
from accounts.models import User
from accounts.services import NewAccount, create_account
from accounts.tokens import issue_tokens
from analytics.journal import journal
from links.destinations import destinations
from tests.admin import Operator

PASSWORD = "correct horse battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def pytest_configure() -> None:
    # Each client of a test has a handler of its own, which would read all static files before its first request.
    django_settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(autouse=True)
def clicks_dir(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """A journal of its own for each test: what the database knows of one ends with the test, too."""
    settings.CLICKS_DIR = tmp_path / "clicks"
    settings.CLICK_SYNC = "process"
    journal.cache_clear()
    yield settings.CLICKS_DIR
    journal.cache_clear()


@pytest.fixture(autouse=True)
def quick_passwords(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same hash for a thousandth of the work: next to every test makes accounts."""
    if "usual_passwords" not in request.keywords:
        monkeypatch.setattr(Argon2, "time_cost", 1)
        monkeypatch.setattr(Argon2, "memory_cost", 8)


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    """What a test made is undone without a word; nobody may remember it."""
    destinations().clear()


def account(email: str, plan: str = "free") -> NewAccount:
    return create_account(email=email, password=PASSWORD, plan=plan, first_name="Ada", last_name="Lovelace")


def key_client(api_key: str) -> APIClient:
    """A client that talks as a server does: to our host, with its key."""
    return APIClient(headers={"host": "sho.rt", "x-api-key": api_key})


@pytest.fixture
def alice(db: None) -> NewAccount:
    return account("alice@example.com", plan="pro")


@pytest.fixture
def stranger(db: None) -> NewAccount:
    return account("mallory@example.com", plan="pro")


@pytest.fixture
def api(alice: NewAccount) -> APIClient:
    """Alice's, with her key."""
    return key_client(alice.api_key)


@pytest.fixture
def strange_api(stranger: NewAccount) -> APIClient:
    return key_client(stranger.api_key)


@pytest.fixture
def anonymous() -> APIClient:
    return APIClient(headers={"host": "sho.rt"})


@pytest.fixture
def bearer(alice: NewAccount) -> APIClient:
    """Alice's, with a token."""
    return bearer_client(alice.user)


def bearer_client(user: User) -> APIClient:
    return APIClient(headers={"host": "sho.rt", "authorization": f"Bearer {issue_tokens(user).access}"})


@pytest.fixture
def make_link(api: APIClient) -> Callable[..., dict[str, Any]]:
    """Creates a link of Alice's through the API and returns its ``data.url``."""

    def make(original_url: str = "https://example.com/page", **fields: Any) -> dict[str, Any]:
        response = api.post("/api/urls", {"originalUrl": original_url, **fields})
        assert response.status_code == 201, response.json()
        return response.json()["data"]["url"]

    return make


@pytest.fixture
def visitor() -> Client:
    """Somebody in a browser, whose clicks count."""
    return Client(enforce_csrf_checks=True, headers={"host": "sho.rt", "user-agent": FIREFOX})


@pytest.fixture
def operator(db: None) -> Operator:
    """A superuser in a browser, logged in to the admin."""
    client = Operator(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    client.force_login(create_account(email="operator@example.com", password=PASSWORD, superuser=True).user)
    return client
