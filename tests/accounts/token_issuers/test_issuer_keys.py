"""What a process keeps of issuers, and how many threads slow ones can occupy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from accounts.token_issuers import issuer_keys
from accounts.token_issuers.issuer_keys import FRESH_SECONDS, IssuerFailed, IssuerKeys
from common.jwks import Keys
from testing.accounts.issuers import ec_key, public_jwk
from tests.accounts.token_issuers.conftest import Clock

HEADER = {"alg": "ES256", "kid": "a"}
UNKNOWN = {"alg": "ES256", "kid": "b"}
KEYS = [public_jwk(ec_key(), "a")]


class Slow:
    """Reads keys once it may go on."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.started, self.may_go_on = Event(), Event()

    def __call__(self, issuer: str) -> Keys:
        self.asked.append(issuer)
        self.started.set()
        assert self.may_go_on.wait(60)
        return KEYS


def test_slow_issuers_occupy_two_threads() -> None:
    slow = Slow()
    keys = IssuerKeys(slow, Clock())
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(keys.find, "one", HEADER)
        assert slow.started.wait(60)
        slow.started.clear()
        second = pool.submit(keys.find, "two", HEADER)
        assert slow.started.wait(60)
        assert [keys.find(issuer, HEADER) for issuer in ("one", "two", "three")] == [None, None, None]
        slow.may_go_on.set()
        assert None not in (first.result(), second.result())
    assert (slow.asked, keys.find("three", HEADER) is None) == (["one", "two", "three"], False)


def test_former_keys_serve_while_new_ones_are_read() -> None:
    slow, clock = Slow(), Clock()
    keys = IssuerKeys(slow, clock)
    keys.store("one", KEYS)
    clock.now += FRESH_SECONDS + 1
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(keys.find, "one", HEADER)
        assert slow.started.wait(60)
        assert keys.find("one", HEADER) is not None
        slow.may_go_on.set()
        assert waiting.result() is not None
    assert slow.asked == ["one"]


def test_an_issuer_that_fails_is_tried_less_and_less_often() -> None:
    asked, clock = [], Clock()

    def fail(issuer: str) -> Keys:
        asked.append(clock.now - start)
        raise IssuerFailed

    start, keys = clock.now, IssuerKeys(fail, clock)
    for _ in range(5 * 60):
        assert keys.find("one", HEADER) is None
        clock.now += 60
    assert asked == [
        0,
        *(60 * (2**number - 1) for number in range(1, 7)),
        3780 + 3600,
        3780 + 2 * 3600,
        3780 + 3 * 3600,
    ]


def test_a_process_keeps_the_keys_of_few_issuers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer_keys, "MAX_ISSUERS", 2)
    asked: list[str] = []

    def fetch(issuer: str) -> Keys:
        asked.append(issuer)
        return KEYS

    keys = IssuerKeys(fetch, Clock())
    for issuer in ("one", "two", "one", "three", "two", "one"):
        assert keys.find(issuer, HEADER) is not None
        assert keys.find(issuer, UNKNOWN) is None
    assert asked == ["one", "two", "three", "one"]
