"""The bounds of conversations with the provider: time, size and number."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpResponse
from pytest_django import Settings

from sign_in.openid_connect.conversations import (
    AT_ONCE,
    Answer,
    Conversation,
    ProviderUnavailable,
    converse,
)
from sign_in.openid_connect.protocol import cache_key
from testing.pages.html import parse
from testing.polling import DEADLINE, eventually
from testing.sign_in.oidc.dripping import DESCRIPTION, DrippingProvider, dripping_provider
from testing.sign_in.pages import browser
from tests.sign_in.openid_connect.openid import use

pytestmark = pytest.mark.django_db(transaction=True)
# Longer than the pause between two bytes of the provider.
SECONDS = 0.5
TOO_LATE = f"The identity provider did not answer within {SECONDS:g} seconds."
BUSY = "Too many people are logging in with single sign-on. Try again in a moment."


@pytest.fixture
def dripping(settings: Settings) -> Iterator[DrippingProvider]:
    with dripping_provider() as provider:
        use(settings, provider.issuer)
        settings.OIDC_SECONDS = SECONDS
        yield provider


def ask(provider: DrippingProvider) -> str:
    """The reason why the provider gives no answer."""

    def work(conversation: Conversation) -> Answer:
        return conversation.get("configuration", provider.issuer + DESCRIPTION)

    with pytest.raises(ProviderUnavailable) as refused:
        converse(work)
    return str(refused.value)


def begin_login() -> HttpResponse:
    response: Any = browser().post("/accounts/oidc/login/")
    return response  # type: ignore[no-any-return]


@pytest.mark.parametrize("in_head", [False, True])
def test_a_dripping_answer_ends_at_the_deadline(dripping: DrippingProvider, in_head: bool) -> None:
    dripping.in_head = in_head
    response = begin_login()
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert parse(response).texts["p"] == TOO_LATE


@pytest.mark.slow
def test_interrupted_conversations_leave_their_places(dripping: DrippingProvider) -> None:
    for _ in range(3 * AT_ONCE):
        # The interrupted thread may take a moment to notice.
        eventually(lambda: ask(dripping) == TOO_LATE)


def test_all_requests_of_a_login_share_one_deadline(dripping: DrippingProvider) -> None:
    """Each of them is faster than the deadline."""

    def work(conversation: Conversation) -> None:
        while True:
            conversation.get("configuration", dripping.issuer + DESCRIPTION)

    dripping.drips_description = False
    with pytest.raises(ProviderUnavailable, match=TOO_LATE):
        converse(work)


def test_conversations_beyond_the_cap_are_refused_at_once(
    dripping: DrippingProvider, settings: Settings
) -> None:
    settings.OIDC_SECONDS = DEADLINE
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(ask, dripping) for _ in range(AT_ONCE)]
        for _ in waiting:
            dripping.reached.get(timeout=DEADLINE)
        response = begin_login()
        assert (response.status_code, response["Retry-After"]) == (503, "2")
        assert parse(response).texts["p"] == BUSY
        assert [conversation.done() for conversation in waiting] == [False] * AT_ONCE
        dripping.ended.set()
    reason = "The identity provider cannot be reached for its configuration."
    assert [conversation.result() for conversation in waiting] == [reason] * AT_ONCE


def test_after_a_failure_the_next_logins_do_not_ask_again(
    dripping: DrippingProvider, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sign_in.openid_connect.protocol.FAILURE_SECONDS", DEADLINE)
    begin_login()
    # The interrupted thread may take a moment to notice.
    eventually(lambda: isinstance(cache.get(cache_key("description")), ProviderUnavailable))
    for _ in range(3):
        response = begin_login()
        assert (response.status_code, parse(response).texts["p"]) == (503, TOO_LATE)
    assert dripping.reached.qsize() == 1
    logged = [record.message for record in caplog.records if "Single sign-on" in record.message]
    assert logged == [f"Single sign-on failed: {TOO_LATE}"]


def test_the_description_is_read_once(dripping: DrippingProvider, settings: Settings) -> None:
    settings.OIDC_SECONDS = DEADLINE
    dripping.drips_description = False
    for _ in range(3):
        assert begin_login().status_code == 200
    assert dripping.reached.qsize() == 1
    cache.clear()
    assert begin_login().status_code == 200
    assert dripping.reached.qsize() == 2
