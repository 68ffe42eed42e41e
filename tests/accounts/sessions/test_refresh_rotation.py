"""Refresh tokens work once. A second use ends the session, for the thief as well as for the owner."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import jwt
import pytest
from django.conf import settings as project_settings
from django.db.models import F

from accounts.models import EndReason, Session, User
from accounts.sessions import lifecycle
from testing.accounts.accounts import claims_of, log_in, token_client, works
from testing.accounts.fixtures import user as user
from tests.accounts.sessions.refreshing import LOGGER, is_refused, pair, unending_grace

REUSED = "A refresh token was used twice, so it may have been stolen. Its session was ended."


@pytest.fixture
def stranger_user(db: None) -> User:
    return User.objects.create(email="mallory@example.com", password="!")


def pass_grace() -> None:
    """The time of the database cannot be changed, so the rotations move into the past."""
    Session.objects.update(rotated_at=F("rotated_at") - lifecycle.GRACE)


def sign(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, project_settings.SIMPLE_JWT["SIGNING_KEY"], "HS256")


def test_each_refresh_returns_a_new_pair_of_the_same_session(user: User) -> None:
    tokens = log_in(user)
    seen = [(tokens.access, tokens.refresh)]
    for _ in range(5):
        seen.append(pair(seen[-1][1]))
    assert len({token for tokens in seen for token in tokens}) == 12
    claims = [claims_of(token) for tokens in seen for token in tokens]
    assert {claim["sid"] for claim in claims} == {str(Session.objects.get().public_id)}
    assert len({claim["jti"] for claim in claims}) == 12
    # Access tokens stay valid for their own lifetime.
    assert [works(access) for access, _ in seen] == [True] * 6


def test_rotation_does_not_extend_the_session(user: User) -> None:
    token = log_in(user).refresh
    _, rotated = pair(token)
    assert claims_of(rotated)["exp"] == claims_of(token)["exp"]
    assert claims_of(token)["exp"] == int(Session.objects.get().expires_at.timestamp())


def test_thief_and_owner_are_both_logged_out_when_both_refresh(
    user: User, stranger_user: User, caplog: pytest.LogCaptureFixture
) -> None:
    stolen = log_in(user).refresh
    other_session, strange = log_in(user), log_in(stranger_user)
    thief_access, thief_refresh = pair(stolen)
    assert works(thief_access)
    pass_grace()

    assert is_refused(stolen)

    assert not works(thief_access)
    assert is_refused(thief_refresh)
    assert is_refused(stolen)
    ended = Session.objects.get(ended_at__isnull=False)
    assert (ended.end_reason, str(ended.public_id)) == (EndReason.REUSE, claims_of(stolen)["sid"])
    # Once, and without any part of a token.
    [record] = [record for record in caplog.records if record.name == LOGGER]
    assert (record.levelno, record.getMessage()) == (logging.WARNING, REUSED)
    assert record.__dict__["fields"] == {"account": str(user.public_id), "session": str(ended.public_id)}
    # Other sessions of the account and of others are not affected.
    assert [works(tokens.access) for tokens in (other_session, strange)] == [True, True]
    assert not is_refused(other_session.refresh)


def test_the_history_says_that_a_token_was_stolen(user: User, stranger_user: User) -> None:
    stolen = log_in(user).refresh
    pair(stolen)
    pass_grace()
    assert [is_refused(stolen) for _ in range(2)] == [True, True]
    [change] = token_client(log_in(user).access).get("/api/audit").json()["data"]["changes"]
    assert (change["action"], change["after"]) == ("session.ended", {"endReason": "reuse"})
    assert (change["actor"], change["via"], change["objectId"]) == (None, "service", claims_of(stolen)["sid"])
    strange = token_client(log_in(stranger_user).access)
    assert strange.get("/api/audit").json()["data"]["changes"] == []


def test_the_owner_refreshes_first_and_the_thief_later(user: User) -> None:
    stolen = log_in(user).refresh
    access, newer = pair(stolen)
    access, newest = pair(newer)
    # Two rotations ago: within the grace, too, it is no retry.
    assert is_refused(stolen)
    assert not works(access)
    assert is_refused(newest)


def test_within_the_grace_a_repeated_refresh_returns_the_same_pair(
    user: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    token = log_in(user).refresh
    with unending_grace(monkeypatch):
        first = pair(token)
        assert [pair(token) for _ in range(3)] == [first] * 3
    assert Session.objects.get().generation == 2
    assert [record for record in caplog.records if record.name == LOGGER] == []


def test_the_grace_is_ten_seconds(user: User) -> None:
    assert lifecycle.GRACE.total_seconds() == 10
    token = log_in(user).refresh
    pair(token)
    Session.objects.update(rotated_at=F("rotated_at") - timedelta(seconds=10))
    assert is_refused(token)
    assert Session.objects.get().end_reason == EndReason.REUSE


@pytest.mark.parametrize("generation", [None, "1", 0, -1, True, 1.0, [1], "absent"])
def test_malformed_generation_is_refused_and_ends_nothing(generation: Any, user: User) -> None:
    claims = claims_of(log_in(user).refresh)
    forged = {name: value for name, value in claims.items() if name != "gen"}
    if generation != "absent":
        forged["gen"] = generation
    assert is_refused(sign(forged))
    assert not is_refused(sign(claims))


@pytest.mark.parametrize("generation", [2, 2**31 - 1, 2**31, 2**63, 10**30])
def test_generation_of_the_future_ends_the_session(generation: int, user: User) -> None:
    """The database is older than the token: it was restored, and cannot know which tokens were used."""
    token = log_in(user).refresh
    assert is_refused(sign({**claims_of(token), "gen": generation}))
    assert is_refused(token)


def test_an_expired_token_that_was_used_ends_nothing(user: User) -> None:
    token = log_in(user).refresh
    _, newer = pair(token)
    claims = claims_of(token)
    assert is_refused(sign({**claims, "exp": claims["iat"] - 1}))
    assert not is_refused(newer)


def test_session_of_another_account_is_refused(user: User, stranger_user: User) -> None:
    hers, his = log_in(user), log_in(stranger_user)
    forged = {**claims_of(his.refresh), "sid": claims_of(hers.refresh)["sid"]}
    assert is_refused(sign(forged))
    assert not works(sign({**claims_of(his.access), "sid": claims_of(hers.access)["sid"]}))
    assert [is_refused(tokens.refresh) for tokens in (hers, his)] == [False, False]
