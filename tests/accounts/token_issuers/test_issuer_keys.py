"""What a process keeps of issuers, and how many threads slow ones can occupy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from accounts.token_issuers import issuer_keys
from accounts.token_issuers.issuer_keys import ALGORITHMS, FRESH_SECONDS, IssuerFailed, IssuerKeys
from common.jwks import Keys, find_key, read_keys
from testing.accounts.issuers import ec_key, public_jwk, rsa_key
from testing.cases import for_each
from testing.polling import eventually
from tests.accounts.token_issuers.conftest import Clock

HEADER = {"alg": "ES256", "kid": "a"}
UNKNOWN = {"alg": "ES256", "kid": "b"}
KEYS = [public_jwk(ec_key(), "a")]
# Workspaces.
A, B, C = uuid4(), uuid4(), uuid4()


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


def test_a_slow_issuer_and_its_workspace_leave_threads_to_others() -> None:
    slow = Slow()
    keys = IssuerKeys(lambda issuer: slow(issuer) if issuer.startswith("slow") else KEYS, Clock())
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(keys.find, "slow", A, HEADER)
        assert slow.started.wait(60)
        slow.started.clear()
        second = pool.submit(keys.find, "slow", B, HEADER)
        eventually(lambda: keys._waiting._value == 0)
        # One reads and one waits. Others do not, nor is another issuer of the workspace read.
        assert [keys.find("slow", B, HEADER), keys.find("other", A, HEADER)] == [None, None]
        assert keys.find("fast", B, HEADER) is not None
        slow.may_go_on.set()
        assert None not in (first.result(), second.result())
    assert (slow.asked, keys.find("other", A, HEADER) is None) == (["slow"], False)


def test_slow_issuers_occupy_two_threads() -> None:
    slow = Slow()
    keys = IssuerKeys(slow, Clock())
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(keys.find, "one", A, HEADER)
        assert slow.started.wait(60)
        slow.started.clear()
        second = pool.submit(keys.find, "two", B, HEADER)
        assert slow.started.wait(60)
        assert keys.find("three", C, HEADER) is None
        slow.may_go_on.set()
        assert None not in (first.result(), second.result())
    assert (slow.asked, keys.find("three", C, HEADER) is None) == (["one", "two", "three"], False)


def test_former_keys_serve_while_new_ones_are_read() -> None:
    slow, clock = Slow(), Clock()
    slow.may_go_on.set()
    keys = IssuerKeys(slow, clock)
    assert keys.find("one", A, HEADER) is not None
    slow.started.clear()
    slow.may_go_on.clear()
    clock.now += FRESH_SECONDS + 1
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(keys.find, "one", A, HEADER)
        assert slow.started.wait(60)
        assert keys.find("one", A, HEADER) is not None
        slow.may_go_on.set()
        assert waiting.result() is not None
    assert slow.asked == ["one"] * 2


def test_unknown_key_ids_make_a_slow_issuer_read_less_often() -> None:
    asked, clock = [], Clock()

    def fetch(issuer: str) -> Keys:
        asked.append(clock.now)
        clock.now += 3
        return KEYS

    start, keys = clock.now, IssuerKeys(fetch, clock)
    while clock.now < start + 1300:
        assert keys.find("one", A, UNKNOWN) is None
        clock.now += 1
    assert asked == [start, start + 603, start + 1206]


def test_an_issuer_that_fails_is_tried_less_and_less_often() -> None:
    asked, clock = [], Clock()

    def fail(issuer: str) -> Keys:
        asked.append(clock.now - start)
        raise IssuerFailed

    start, keys = clock.now, IssuerKeys(fail, clock)
    for _ in range(5 * 60):
        assert keys.find("one", A, HEADER) is None
        clock.now += 60
    assert asked == [
        0,
        *(60 * (2**number - 1) for number in range(1, 7)),
        3780 + 3600,
        3780 + 2 * 3600,
        3780 + 3 * 3600,
    ]


def test_the_keys_that_were_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that fail take no place, and stay known to have failed."""
    monkeypatch.setattr(issuer_keys, "MAX_ISSUERS", 2)
    asked: list[str] = []

    def fetch(issuer: str) -> Keys:
        asked.append(issuer)
        if issuer.startswith("bad"):
            raise IssuerFailed
        return KEYS

    keys = IssuerKeys(fetch, Clock())
    for issuer in ("one", "two", "one", "bad 1", "bad 2", "bad 3", "three", "one", "two", "bad 1", "three"):
        assert (keys.find(issuer, A, HEADER) is None) == issuer.startswith("bad")
        assert keys.find(issuer, A, UNKNOWN) is None
    assert asked == ["one", "two", "bad 1", "bad 2", "bad 3", "three", "two", "three"]


SHORT_RSA = public_jwk(rsa_key(), "a")
UNUSABLE: dict[str, dict[str, Any]] = {
    "of another curve": public_jwk(ec.generate_private_key(ec.SECP521R1()), "a"),
    "with a large exponent": {**SHORT_RSA, "e": SHORT_RSA["n"][:7]},
    "with a large modulus": {**SHORT_RSA, "n": SHORT_RSA["n"] + SHORT_RSA["n"] + "AQ"},
    "with a huge modulus": {**SHORT_RSA, "n": SHORT_RSA["n"] * 100},
    "without members": {},
    "with an object": {**SHORT_RSA, "n": {}},
}


@for_each("name", UNUSABLE)
def test_keys_that_cannot_verify_are_dropped(name: str) -> None:
    usable = public_jwk(ec_key(), "b")
    assert read_keys({"keys": [UNUSABLE[name], usable]}, ALGORITHMS) == [usable]
    assert len(read_keys({"keys": [usable] * 101}, ALGORITHMS)) == 100
    with suppress(jwt.PyJWTError, ValueError):
        algorithm = "ES256" if name == "of another curve" else "RS256"
        assert find_key([UNUSABLE[name]], {"alg": algorithm}) is None
