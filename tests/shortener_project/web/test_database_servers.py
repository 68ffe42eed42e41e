"""A database that does not commit, and former primaries: `/readyz`, metrics, and calls with credentials."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from common.host import primary, state
from tests.shortener_project.web.scraping import prometheus as prometheus
from tests.shortener_project.web.scraping import value

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_host_memory")]


def set_time(word: int, seconds_ago: float) -> None:
    state.mapped().servers[word] = state.microseconds() - int(seconds_ago * 1e6)


@pytest.fixture(autouse=True)
def usual_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "HEARING_SECONDS", 5.0)


def test_a_host_whose_database_does_not_commit_is_not_ready(visitor: Client, prometheus: Client) -> None:
    assert visitor.get("/readyz").status_code == 200
    assert value(prometheus, "database_writable") == 1
    set_time(state.COMMITTED, 6)
    assert visitor.get("/readyz").status_code == 503
    response = prometheus.get("/readyz")
    assert response.status_code == 503
    assert response.json()["commits"] == "it does not commit"
    assert value(prometheus, "database_writable") == 0
    assert value(prometheus, "database_up") == 1


def test_a_foreign_schema_is_reported(prometheus: Client, db: None) -> None:
    assert value(prometheus, "database_schema_fits") == 1
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE django_migrations SET digest = 'x' WHERE (app, name) = ('links', '0001_initial')"
        )
    assert value(prometheus, "database_schema_fits") == 0
    assert value(prometheus, "database_up") == 1


def test_former_primaries_are_reported(prometheus: Client) -> None:
    names = ("database_former_primary", "database_gone_back")
    assert [value(prometheus, name) for name in names] == [0, 0]
    primary.note_former()
    assert [value(prometheus, name) for name in names] == [1, 0]
    set_time(state.COMMITTED, 6)
    assert [value(prometheus, name) for name in names] == [1, 1]


def test_credentials_are_refused_while_the_database_does_not_commit(
    api: APIClient, bearer: APIClient
) -> None:
    set_time(state.COMMITTED, 6)
    primary.note_failed()
    for client in (api, bearer):
        response = client.get("/api/urls")
        assert (response.status_code, response["Retry-After"]) == (503, "2")


def test_without_a_listener_a_call_confirms_the_database_itself(api: APIClient, bearer: APIClient) -> None:
    for client in (api, bearer):
        set_time(state.COMMITTED, 6)
        set_time(state.FAILED, 6)
        assert client.get("/api/urls").status_code == 200
        assert primary.is_committing()


def test_a_call_without_a_valid_credential_does_not_confirm_the_database() -> None:
    set_time(state.COMMITTED, 6)
    response = APIClient(headers={"host": "sho.rt", "x-api-key": "sk_unknown"}).get("/api/urls")
    assert response.status_code == 401
    assert not primary.is_committing()
