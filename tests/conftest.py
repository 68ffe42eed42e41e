from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.password_hashing import Argon2, account_hashing, link_hashing
from accounts.services import NewAccount, create_account
from common.host import cache_versions, state
from links.destinations.known_links import known_links
from links.destinations.lookup import destinations
from links.guess_counts import guesses
from qrcodes.drawing import drawing_queue
from redirects import app_links
from testing import error_bodies
from testing.accounts.accounts import PASSWORD, account, bearer_client, key_client
from testing.accounts.admin import Operator
from testing.analytics.clicks import close_journal
from testing.polling import DEADLINE
from testing.service.postgresql.databases import template_on
from testing.service.running import Service
from testing.visitors.agents import FIREFOX
from tests import emptying

# pytest rewrites the assertions of test modules only; those in the modules that they share need the values, too.
pytest.register_assert_rewrite(
    *(f"tests.{folder.name}" for folder in Path(__file__).parent.iterdir() if folder.is_dir()),
    *("testing.clients", "testing.contract", "testing.links", "testing.redirects"),
)


def pytest_configure() -> None:
    # Otherwise each test client's handler would read all static files before its first request.
    django_settings.WHITENOISE_AUTOREFRESH = True
    emptying.install()
    error_bodies.install()
    Service.may_fork = True
    # The service gives up after two seconds, and on a busy machine a hundred threads of a test connect at once.
    django_settings.DATABASES["default"]["OPTIONS"]["connect_timeout"] = DEADLINE
    # The service refuses images and passwords that take or wait longer than five seconds.
    drawing_queue.timeout = drawing_queue.admission.seconds = DEADLINE
    account_hashing.seconds = link_hashing.seconds = DEADLINE
    # A shell ignores SIGINT in background commands, and everything that the tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # On a busy machine, an example may take any time.
    hypothesis_settings.register_profile(
        "untimed", hypothesis_settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    hypothesis_settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests live until the end, so the garbage collector need not visit them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """The database of a worker is a copy of the template that the services' databases have."""
    connection.settings_dict["TEST"]["TEMPLATE"] = template_on(os.environ["DATABASE_URL"])


@pytest.fixture(scope="session")
def journals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New folders for the journals of the tests. `tmp_path` would take longer than many tests: it lists all earlier
    folders.
    """
    parent = tmp_path_factory.mktemp("journals")
    return (parent / str(number) for number in count())


@pytest.fixture
def own_host_memory(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """New files of a host: its version counters, its state and its known links."""
    settings.VERSIONS_FILE = tmp_path / "run" / "versions"
    forget_host_memory()
    hear_for_an_hour()
    yield
    forget_host_memory()


def forget_host_memory() -> None:
    """The next use opens the files of the settings."""
    if known_links.cache_info().currsize:
        known_links().close()
    for cache in (cache_versions.counters, state.mapped, known_links):
        cache.cache_clear()


@pytest.fixture(autouse=True)
def clicks_dir(settings: Settings, journals: Iterator[Path]) -> Iterator[Path]:
    """A separate journal for each test, because the database forgets its segments between tests."""
    settings.CLICKS_DIR = next(journals)
    settings.CLICK_SYNC = "process"
    close_journal()
    yield settings.CLICKS_DIR
    close_journal()


@pytest.fixture(autouse=True)
def quick_passwords(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same hash function at a thousandth of the cost, because almost every test creates accounts."""
    if "usual_passwords" not in request.keywords:
        monkeypatch.setattr(Argon2, "time_cost", 1)
        monkeypatch.setattr(Argon2, "memory_cost", 8)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the caches: deleting a test's rows sends no notification. The follower seems to run.

    Otherwise cached links would expire if the process of the tests gets no processor time for five seconds.
    """
    monkeypatch.setattr(state, "HEARING_SECONDS", float(DEADLINE))
    destinations().clear()
    app_links.documents().clear()
    guesses.cache_clear()
    hear_for_an_hour()


def hear_for_an_hour() -> None:
    """The host keeps in contact with the database, however long this process stops. Without contact, caches expire
    after seconds.
    """
    in_an_hour = state.microseconds() + 3_600_000_000
    state.mapped().header[state.HEARD] = in_an_hour
    state.mapped().servers[state.COMMITTED] = in_an_hour


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
    """A client with a browser's headers, so its clicks count."""
    return Client(enforce_csrf_checks=True, headers={"host": "sho.rt", "user-agent": FIREFOX})


@pytest.fixture
def operator(db: None) -> Operator:
    """A superuser in a browser, logged in to the admin."""
    client = Operator(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    client.force_login(create_account(email="operator@example.com", password=PASSWORD, superuser=True).user)
    return client
