from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from common import versions
from links import destination_cache
from links.destination_cache import UNKNOWN_SECONDS, DestinationCache

KEY = ("go.example.com", "spring")


class Shelf:
    """Where things are read from; counts how often."""

    def __init__(self, content: str = "first") -> None:
        self.content = content
        self.reads = 0
        self.before_return: Callable[[], None] = lambda: None

    def __call__(self) -> str:
        self.reads += 1
        content = self.content
        self.before_return()
        return content


def cost(found: str) -> int | None:
    return {"nothing": 0, "never": None}.get(found, len(found))


def make_cache(entries: int = 1000, size: int = 10_000_000) -> DestinationCache[str]:
    return DestinationCache(entries, size, cost)


def test_what_was_read_is_not_read_again() -> None:
    cache, shelf = make_cache(), Shelf()

    assert [cache.find(KEY, shelf) for _ in range(3)] == ["first"] * 3
    assert shelf.reads == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda: versions.bump(codes=["spring"]),
        lambda: versions.bump(hosts=["go.example.com"]),
        versions.bump_all,
    ],
    ids=["code", "host", "all"],
)
def test_after_a_change_it_is_read_again(change: Callable[[], None]) -> None:
    cache, shelf = make_cache(), Shelf()
    cache.find(KEY, shelf)
    shelf.content = "second"

    change()

    assert cache.find(KEY, shelf) == "second"
    assert shelf.reads == 2


def test_a_change_of_something_else_is_no_reason_to_read_again() -> None:
    cache, shelf = make_cache(), Shelf()
    cache.find(KEY, shelf)

    versions.bump(codes=["summer"], hosts=["spring"])

    assert cache.find(KEY, shelf) == "first"
    assert shelf.reads == 1


def test_what_changes_while_it_is_read_is_not_kept() -> None:
    cache, shelf = make_cache(), Shelf()

    def change() -> None:
        shelf.content = "second"
        versions.bump(codes=["spring"])

    shelf.before_return = change
    assert cache.find(KEY, shelf) == "first"
    shelf.before_return = lambda: None

    assert cache.find(KEY, shelf) == "second"
    assert shelf.reads == 2


def test_a_burst_on_something_unknown_is_one_read() -> None:
    cache, shelf = make_cache(), Shelf()
    ready = threading.Event()

    def wait() -> None:
        assert ready.wait(10)

    shelf.before_return = wait
    with ThreadPoolExecutor(20) as threads:
        found = [threads.submit(cache.find, KEY, shelf) for _ in range(20)]
        ready.set()
        assert [each.result() for each in found] == ["first"] * 20

    assert shelf.reads == 1


def test_who_asks_after_a_change_is_not_given_what_a_read_found_that_began_before() -> None:
    cache, shelf = make_cache(), Shelf()
    begun, changed = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert changed.wait(10)

    shelf.before_return = wait
    with ThreadPoolExecutor(1) as threads:
        early = threads.submit(cache.find, KEY, shelf)
        assert begun.wait(10)
        shelf.content, shelf.before_return = "second", lambda: None
        versions.bump(codes=["spring"])

        assert cache.find(KEY, shelf) == "second"
        changed.set()
        assert early.result() == "first"

    assert cache.find(KEY, shelf) == "second"


def test_a_failure_is_everybodys_who_waited_for_it_and_is_not_kept() -> None:
    cache, shelf = make_cache(), Shelf()
    failing = threading.Event()

    def fail() -> None:
        assert failing.wait(10)
        raise ConnectionError

    shelf.before_return = fail
    with ThreadPoolExecutor(5) as threads:
        found = [threads.submit(cache.find, KEY, shelf) for _ in range(5)]
        failing.set()
        assert [type(each.exception()) for each in found] == [ConnectionError] * 5
    shelf.before_return = lambda: None

    assert cache.find(KEY, shelf) == "first"


def test_what_is_known_needs_nobody_to_read_it() -> None:
    cache, shelf = make_cache(), Shelf()
    cache.find(KEY, shelf)

    def fail() -> str:
        raise ConnectionError

    assert cache.find(KEY, fail) == "first"


def test_what_is_nothing_is_asked_for_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(destination_cache.time, "monotonic", lambda: now)
    cache, shelf = make_cache(), Shelf("nothing")

    assert [cache.find(KEY, shelf) for _ in range(3)] == ["nothing"] * 3
    assert shelf.reads == 1
    now += UNKNOWN_SECONDS
    shelf.content = "first"
    assert cache.find(KEY, shelf) == "first"


@pytest.mark.parametrize(
    ("content", "reads"), [("first", 1), ("nothing", 2)], ids=["known, read once", "unknown, read again"]
)
def test_a_new_link_ends_what_was_unknown_and_nothing_else(content: str, reads: int) -> None:
    cache, shelf = make_cache(), Shelf(content)
    cache.find(KEY, shelf)

    versions.bump(new_codes=[KEY[1]])
    cache.find(KEY, shelf)

    assert shelf.reads == reads


def test_what_may_not_be_kept_is_read_each_time() -> None:
    cache, shelf = make_cache(), Shelf("never")

    assert [cache.find(KEY, shelf) for _ in range(3)] == ["never"] * 3
    assert shelf.reads == 3


def kept(cache: DestinationCache[str], numbers: range) -> list[int]:
    return [number for number in numbers if _knows(cache, ("", f"c{number}"))]


def _knows(cache: DestinationCache[str], key: tuple[str, str]) -> bool:
    def fail() -> str:
        raise ConnectionError

    try:
        cache.find(key, fail)
    except ConnectionError:
        return False
    return True


def test_no_more_is_kept_than_entries_are_allowed_and_the_latest_are() -> None:
    cache = make_cache(entries=100)
    for number in range(1000):
        cache.find(("", f"c{number}"), lambda: "x")

    assert kept(cache, range(900)) == []
    assert kept(cache, range(950, 1000)) == list(range(950, 1000))


def test_no_more_is_kept_than_bytes_are_allowed() -> None:
    cache = make_cache(size=100_000)
    for number in range(1000):
        cache.find(("", f"c{number}"), lambda: "x" * 9_100)

    assert 5 <= len(kept(cache, range(1000))) <= 10


def test_what_is_asked_for_again_and_again_stays() -> None:
    cache, shelf = make_cache(entries=100), Shelf()
    for number in range(1000):
        assert cache.find(KEY, shelf) == "first"
        cache.find(("", f"c{number}"), lambda: "x")

    assert shelf.reads == 1
