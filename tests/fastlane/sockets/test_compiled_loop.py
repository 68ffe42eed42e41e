"""The compiled event loop against the Python one, and how it is found."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from ipaddress import ip_network
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import time_machine
from gunicorn.config import Config
from pytest_django.fixtures import Settings

from analytics.journal.agents import short_agent
from analytics.journal.capture import KINDS
from analytics.journal.records import encode_fields, frame
from analytics.journal.writer import journal
from fastlane.compiled import event_loop as compiled_event_loop
from fastlane.compiled.event_loop import CompiledEventLoop, Loaded, event_loop, load
from fastlane.fast.lane import FastLane
from fastlane.sockets.connections import OpenConnections
from fastlane.sockets.event_loop import EventLoop
from fastlane.worker import Worker
from links.guess_counts import guesses
from testing.fastlane.compiled import compiled_or_skip
from testing.fastlane.conversations import conversations
from testing.fastlane.known_links import PLAIN as PLAIN_CODES
from testing.fastlane.known_links import lane_of_known_links
from testing.fastlane.loops import NOW, converse, difference
from testing.fastlane.transcripts import Conversation
from testing.visitors.agents import FIREFOX

SEEDS = range(8)
CONVERSATIONS = 20
PLAIN = b"GET /plain01 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture
def _links_of_a_proxied_service(settings: Settings) -> None:
    settings.BASE_HOSTS = frozenset({"127.0.0.1"})
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    settings.UNKNOWN_CODE_LIMIT = 60
    guesses.cache_clear()


@pytest.fixture
def _answers_in_c_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if Python code answers."""
    compiled_or_skip()

    def answer(*_: object) -> None:
        raise AssertionError("The compiled part does not answer a known plain link.")

    monkeypatch.setattr(FastLane, "answer", answer)


@pytest.fixture
def _loaded_again() -> Iterator[None]:
    load.cache_clear()
    yield
    load.cache_clear()


def _runs() -> Any:
    return patch.object(CompiledEventLoop, "run_once", autospec=True, side_effect=CompiledEventLoop.run_once)


@pytest.mark.usefixtures("_links_of_a_proxied_service")
@pytest.mark.parametrize("seed", SEEDS)
def test_both_loops_answer_record_and_defer_the_same(seed: int) -> None:
    """A small part of `make fuzz-loops`."""
    compiled = compiled_or_skip()
    for conversation in conversations(seed, CONVERSATIONS):
        assert difference(compiled, conversation) == "", conversation


@pytest.mark.usefixtures("_links_of_a_proxied_service", "_answers_in_c_only")
def test_pipelined_requests_of_several_clients_are_answered_in_one_iteration_and_one_write() -> None:
    conversation = Conversation(["192.0.2.1", "192.0.2.2"], [[(0, PLAIN * 8), (1, PLAIN * 8)]])
    with (
        _runs() as runs,
        patch.object(journal(), "append_frames", wraps=journal().append_frames) as writes,
    ):
        transcript = converse(event_loop, conversation)

    assert (runs.call_count, writes.call_count) == (1, 1)
    assert [received.count(b"HTTP/1.1 302 Found\r\n") for received in transcript.received] == [8, 8]
    assert {address: len(records) for address, records in transcript.records.items()} == {
        "192.0.2.1": 8,
        "192.0.2.2": 8,
    }


@pytest.mark.usefixtures("_links_of_a_proxied_service", "_answers_in_c_only")
@pytest.mark.parametrize(("waits", "runs"), [(True, 1), (False, 2)])
def test_a_loop_that_may_wait_continues_while_only_compiled_code_is_needed(waits: bool, runs: int) -> None:
    # More clients than events of one iteration.
    peers = [f"192.0.2.{number}" for number in range(100)]
    conversation = Conversation(peers, [[(number, PLAIN) for number in range(100)]], waits=waits)
    with _runs() as calls:
        transcript = converse(event_loop, conversation)

    assert calls.call_count == runs
    assert [received.count(b"HTTP/1.1 302 Found\r\n") for received in transcript.received] == [1] * 100


@pytest.mark.usefixtures("_links_of_a_proxied_service", "_answers_in_c_only")
def test_a_new_connection_is_accepted_answered_and_closed_in_one_iteration() -> None:
    closing = PLAIN.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    conversation = Conversation([""] * 64, [[(number, closing) for number in range(64)]], is_accepted=True)
    with (
        _runs() as runs,
        patch.object(OpenConnections, "add") as added,
        patch.object(journal(), "append_frames", wraps=journal().append_frames) as writes,
    ):
        transcript = converse(event_loop, conversation)

    assert (runs.call_count, added.call_count, writes.call_count, transcript.admitted) == (1, 0, 1, 0)
    assert [received.count(b"HTTP/1.1 302 Found\r\n") for received in transcript.received] == [1] * 64


@pytest.mark.usefixtures("_links_of_a_proxied_service")
@pytest.mark.parametrize("is_accepted", [False, True])
@pytest.mark.parametrize("make_loop", [event_loop, EventLoop], ids=["installed loop", "Python loop"])
def test_no_answer_is_sent_without_its_record(make_loop: type[EventLoop], is_accepted: bool) -> None:
    conversation = Conversation(["192.0.2.1"], [[(0, PLAIN * 3)]], fails=True, is_accepted=is_accepted)
    transcript = converse(make_loop, conversation)

    assert transcript.received == [b""]
    assert [(incoming.data, incoming.rest) for incoming in transcript.deferred[0]] == [(PLAIN, PLAIN * 2)]
    assert transcript.records == {}


@pytest.mark.usefixtures("_links_of_a_proxied_service", "_answers_in_c_only")
@pytest.mark.parametrize(("peer", "address"), [("192.0.2.1", "192.0.2.1"), ("10.0.0.1", "198.51.100.7")])
def test_the_compiled_part_writes_the_record_of_the_python_code_and_remembers_the_link(
    peer: str, address: str
) -> None:
    fields = f"Host: 127.0.0.1\r\nUser-Agent: {FIREFOX}\r\nReferer: https://news.example/\r\n"
    head = f"HEAD /plain01 HTTP/1.1\r\n{fields}X-Forwarded-For: 198.51.100.7\r\n\r\n".encode()
    transcript = converse(event_loop, Conversation([peer], [[(0, head)]]))

    with time_machine.travel(NOW, tick=False):
        now = int(time.time() * 1_000_000)
    [record] = transcript.records[address]
    assert record == encode_fields(
        now,
        1 + PLAIN_CODES.index("plain01"),
        KINDS["head"],
        0,
        address.encode(),
        short_agent(FIREFOX.encode()),
        b"https://news.example/",
    )
    assert guesses().followed.has_followed(address, b"plain01")
    assert not guesses().followed.has_followed(address, b"a")


def test_frames_equal_those_of_the_python_code() -> None:
    compiled_or_skip()
    compiled_frame = import_module("fastlane.compiled.plain_links").frame
    rng = random.Random(1)
    for length in (*range(300), 65_535):
        payload = rng.randbytes(length)
        assert compiled_frame(payload) == frame(payload)
    with pytest.raises(ValueError, match="too long"):
        compiled_frame(bytes(65_536))


@pytest.mark.usefixtures("_loaded_again")
def test_the_setting_switches_the_compiled_loop_off(settings: Settings) -> None:
    settings.COMPILED_LOOP = "off"

    assert load() == Loaded(None, "COMPILED_LOOP=off")
    loop = event_loop(
        OpenConnections(on_closed=lambda _: None, idle_timeout=75),
        lane_of_known_links(),
        config=Config(),
        on_deferred=lambda _, __: None,
    )
    assert type(loop) is EventLoop
    loop.close()


@pytest.mark.usefixtures("_loaded_again")
def test_a_module_that_was_built_from_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_or_skip()
    load.cache_clear()
    monkeypatch.setattr(compiled_event_loop, "source_version", lambda: "a later version")

    assert load() == Loaded(None, "the compiled loop was built from other sources, run `make accelerate`")


def _load_instead(monkeypatch: pytest.MonkeyPatch, load_module: Callable[[str], object]) -> Loaded:
    monkeypatch.setattr(compiled_event_loop, "import_module", load_module)
    return load()


@pytest.mark.usefixtures("_loaded_again")
def test_a_module_of_a_version_without_a_digest_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("plain_links")

    assert _load_instead(monkeypatch, lambda _: old) == Loaded(
        None, "the compiled loop was built from other sources, run `make accelerate`"
    )


@pytest.mark.usefixtures("_loaded_again")
@pytest.mark.parametrize(
    "error", [ImportError("undefined symbol"), AttributeError("gone"), ValueError("size")]
)
def test_a_module_that_cannot_be_loaded_is_not_used(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(_: str) -> None:
        raise error

    assert _load_instead(monkeypatch, fail) == Loaded(
        None, f"the compiled loop cannot be loaded, run `make accelerate` ({error!r})"
    )


@pytest.mark.usefixtures("_loaded_again")
@pytest.mark.parametrize("position", range(3))
def test_a_module_with_a_structure_of_another_size_is_not_used(
    monkeypatch: pytest.MonkeyPatch, position: int
) -> None:
    compiled_or_skip()
    load.cache_clear()
    module = import_module("fastlane.compiled.plain_links")
    sizes = list(module.SIZES)
    sizes[position] += 1
    monkeypatch.setattr(module, "SIZES", tuple(sizes))

    assert load() == Loaded(None, "the compiled loop was built from other sources, run `make accelerate`")


@pytest.mark.usefixtures("_loaded_again")
def test_the_service_logs_which_loop_it_uses(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.COMPILED_LOOP = "off"
    with caplog.at_level(logging.INFO):
        Worker.check_config(Config(), logging.getLogger("gunicorn.error"))

    assert caplog.messages[-1] == "Event loop: Python (COMPILED_LOOP=off)"
