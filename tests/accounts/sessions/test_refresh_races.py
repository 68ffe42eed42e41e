"""Concurrent refreshes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.models import EndReason, Session, User
from accounts.sessions import lifecycle
from testing.accounts.accounts import log_in, token_client, works
from testing.accounts.fixtures import user as user
from testing.threads import at_once
from tests.accounts.sessions.refreshing import LOGGER, is_refused, pair, refresh, unending_grace


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_hundred_concurrent_refreshes_get_the_same_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    user = User.objects.create(email="alice@example.com", password="!")
    token = log_in(user).refresh
    with unending_grace(monkeypatch):
        pairs = at_once([lambda: pair(token)] * 200)
    assert len(pairs) == 200
    assert len(set(pairs)) == 1
    session = Session.objects.get()
    assert (session.generation, session.ended_at) == (2, None)
    [(access, refresh_token)] = set(pairs)
    assert works(access)
    pair(refresh_token)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_two_hundred_concurrent_refreshes_without_grace_one_gets_a_pair(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    user = User.objects.create(email="alice@example.com", password="!")
    token = log_in(user).refresh
    monkeypatch.setattr(lifecycle, "GRACE", timedelta(0))

    responses = at_once([lambda: refresh(token)] * 200)

    assert sorted(response.status_code for response in responses) == [200, *[401] * 199]
    [body] = [response.json() for response in responses if response.status_code == 200]
    assert Session.objects.get().end_reason == EndReason.REUSE
    assert len([record for record in caplog.records if record.name == LOGGER]) == 1
    assert not works(body["token"])
    assert is_refused(body["refreshToken"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(5))
def test_a_refresh_concurrent_with_a_logout_leaves_no_valid_token(attempt: int) -> None:
    user = User.objects.create(email="alice@example.com", password="!")
    tokens = log_in(user)

    logout, response = at_once(
        [lambda: token_client(tokens.access).post("/api/auth/logout"), lambda: refresh(tokens.refresh)]
    )

    assert logout.status_code == 200
    assert response.status_code in {200, 401}
    if response.status_code == 200:
        assert not works(response.json()["token"])
        assert is_refused(response.json()["refreshToken"])
    assert Session.objects.get().end_reason == EndReason.LOGOUT
