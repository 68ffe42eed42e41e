from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from common.host import cache_versions
from links.destinations import cache as destination_cache
from links.destinations.cache import UNKNOWN_SECONDS, DestinationCache
from testing.polling import DEADLINE

KEY = ("go.example.com", "spring")


class Shelf:
    """A data source that counts its reads."""

    def __init__(self, content: str = "first") -> None:
        self.content = content
        self.reads = 0
        self.before_return: Callable[[], None] = lambda: None

    def __call__(self) -> str:
        self.reads += 1
        content = self.content
        self.before_return()
        return content


def cost(result: str) -> int | None:
    return {"nothing": 0, "never": None}.get(result, len(result))


def make_cache(entries: int = 1000, size: int = 10_000_000) -> DestinationCache[str]:
    return DestinationCache(entries, size, cost)


def test_a_cached_entry_is_not_loaded_again() -> None:
    cache, shelf = make_cache(), Shelf()

    assert [cache.find(KEY, shelf) for _ in range(3)] == ["first"] * 3
    assert shelf.reads == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda: cache_versions.bump(codes=["spring"]),
        lambda: cache_versions.bump(hosts=["go.example.com"]),
        cache_versions.bump_all,
    ],
    ids=["code", "host", "all"],
)
def test_a_change_invalidates_the_entry(change: Callable[[], None]) -> None:
    cache, shelf = make_cache(), Shelf()
    cache.find(KEY, shelf)
    shelf.content = "second"

    change()

    assert cache.find(KEY, shelf) == "second"
    assert shelf.reads == 2


def test_an_unrelated_change_keeps_the_entry() -> None:
    cache, shelf = make_cache(), Shelf()
    cache.find(KEY, shelf)

    cache_versions.bump(codes=["summer"], hosts=["spring"])

    assert cache.find(KEY, shelf) == "first"
    assert shelf.reads == 1


def test_a_change_during_loading_prevents_caching() -> None:
    cache, shelf = make_cache(), Shelf()

    def change() -> None:
        shelf.content = "second"
        cache_versions.bump(codes=["spring"])

    shelf.before_return = change
    assert cache.find(KEY, shelf) == "first"
    shelf.before_return = lambda: None

    assert cache.find(KEY, shelf) == "second"
    assert shelf.reads == 2


def test_concurrent_lookups_of_an_unknown_key_load_once() -> None:
    cache, shelf = make_cache(), Shelf()
    ready = threading.Event()

    def wait() -> None:
        assert ready.wait(DEADLINE)

    shelf.before_return = wait
    with ThreadPoolExecutor(20) as threads:
        lookups = [threads.submit(cache.find, KEY, shelf) for _ in range(20)]
        ready.set()
        assert [lookup.result() for lookup in lookups] == ["first"] * 20

    assert shelf.reads == 1


def test_a_lookup_after_a_change_does_not_share_an_older_load() -> None:
    cache, shelf = make_cache(), Shelf()
    begun, changed = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert changed.wait(DEADLINE)

    shelf.before_return = wait
    with ThreadPoolExecutor(1) as threads:
        early = threads.submit(cache.find, KEY, shelf)
        assert begun.wait(DEADLINE)
        shelf.content, shelf.before_return = "second", lambda: None
        cache_versions.bump(codes=["spring"])

        assert cache.find(KEY, shelf) == "second"
        changed.set()
        assert early.result() == "first"

    assert cache.find(KEY, shelf) == "second"


def test_a_load_error_reaches_all_waiters_and_is_not_cached() -> None:
    cache, shelf = make_cache(), Shelf()
    failing = threading.Event()

    def fail() -> None:
        assert failing.wait(DEADLINE)
        raise ConnectionError

    shelf.before_return = fail
    with ThreadPoolExecutor(5) as threads:
        lookups = [threads.submit(cache.find, KEY, shelf) for _ in range(5)]
        failing.set()
        assert [type(lookup.exception()) for lookup in lookups] == [ConnectionError] * 5
    shelf.before_return = lambda: None

    assert cache.find(KEY, shelf) == "first"


def test_a_cached_entry_needs_no_loader() -> None:
    cache, shelf = make_cache(), Shelf()
    cache.find(KEY, shelf)

    def fail() -> str:
        raise ConnectionError

    assert cache.find(KEY, fail) == "first"


def test_an_unknown_code_is_loaded_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    # Other threads of this process keep their clock.
    monkeypatch.setattr(destination_cache, "time", SimpleNamespace(monotonic=lambda: now))
    cache, shelf = make_cache(), Shelf("nothing")

    assert [cache.find(KEY, shelf) for _ in range(3)] == ["nothing"] * 3
    assert shelf.reads == 1
    now += UNKNOWN_SECONDS
    shelf.content = "first"
    assert cache.find(KEY, shelf) == "first"


@pytest.mark.parametrize(
    ("content", "reads"), [("first", 1), ("nothing", 2)], ids=["known, read once", "unknown, read again"]
)
def test_a_new_link_invalidates_only_unknown_entries(content: str, reads: int) -> None:
    cache, shelf = make_cache(), Shelf(content)
    cache.find(KEY, shelf)

    cache_versions.bump(new_codes=[KEY[1]])
    cache.find(KEY, shelf)

    assert shelf.reads == reads


def test_an_uncacheable_result_is_loaded_each_time() -> None:
    cache, shelf = make_cache(), Shelf("never")

    assert [cache.find(KEY, shelf) for _ in range(3)] == ["never"] * 3
    assert shelf.reads == 3


def present(cache: DestinationCache[str], numbers: range) -> list[int]:
    return [number for number in numbers if _knows(cache, ("", f"c{number}"))]


def _knows(cache: DestinationCache[str], key: tuple[str, str]) -> bool:
    def fail() -> str:
        raise ConnectionError

    try:
        cache.find(key, fail)
    except ConnectionError:
        return False
    return True


def test_the_number_of_entries_is_bounded_and_the_latest_stay() -> None:
    cache = make_cache(entries=100)
    for number in range(1000):
        cache.find(("", f"c{number}"), lambda: "x")

    assert present(cache, range(900)) == []
    assert present(cache, range(950, 1000)) == list(range(950, 1000))


def test_the_size_in_bytes_is_bounded() -> None:
    cache = make_cache(size=100_000)
    for number in range(1000):
        cache.find(("", f"c{number}"), lambda: "x" * 9_100)

    assert 5 <= len(present(cache, range(1000))) <= 10


def test_frequently_used_entries_stay() -> None:
    cache, shelf = make_cache(entries=100), Shelf()
    for number in range(1000):
        assert cache.find(KEY, shelf) == "first"
        cache.find(("", f"c{number}"), lambda: "x")

    assert shelf.reads == 1
