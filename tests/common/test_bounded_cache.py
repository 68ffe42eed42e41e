from __future__ import annotations

from common.bounded_cache import BoundedCache


def of_bytes(entries: int, size: int) -> BoundedCache[bytes, bytes]:
    return BoundedCache(entries, size, lambda key, value: len(key) + len(value))


def present(cache: BoundedCache[bytes, bytes], numbers: range) -> list[int]:
    return [number for number in numbers if cache.get(b"%d" % number)]


def test_the_number_of_entries_is_limited_and_the_latest_stay() -> None:
    cache = of_bytes(entries=100, size=10_000_000)
    for number in range(1000):
        cache.put(b"%d" % number, b"x")

    assert present(cache, range(900)) == []
    assert present(cache, range(950, 1000)) == list(range(950, 1000))


def test_the_size_in_bytes_is_limited() -> None:
    cache = of_bytes(entries=1000, size=100_000)
    for number in range(1000):
        cache.put(b"%d" % number, b"x" * 10_000)

    assert 5 <= len(present(cache, range(1000))) <= 10


def test_storing_an_entry_again_uses_no_more_space() -> None:
    cache = of_bytes(entries=1000, size=100_000)
    cache.put(b"other", b"x")
    for _ in range(1000):
        cache.put(b"again", b"x" * 10_000)

    assert b"other" in cache.young


def test_frequently_used_entries_stay() -> None:
    cache = of_bytes(entries=100, size=10_000_000)
    cache.put(b"spring", b"here")
    for number in range(1000):
        assert cache.get(b"spring") == b"here"
        cache.put(b"%d" % number, b"x")


def test_preloaded_entries_neither_replace_nor_evict_others() -> None:
    cache = BoundedCache[str, str](4, 1_000, lambda key, value: len(key) + len(value))
    cache.put("used", "value")

    assert cache.preload([("used", "older"), ("likely", "value")])
    assert not cache.preload([("unlikely", "value"), ("beyond", "value")])

    assert [cache.get(key) for key in ("used", "likely", "unlikely", "beyond")] == [
        "value", "value", "value", None,
    ]  # fmt: skip


def test_preloaded_entries_are_limited_in_bytes() -> None:
    cache = BoundedCache[str, str](100, 20, lambda key, value: len(key) + len(value))

    assert not cache.preload([("a", "1234"), ("b", "1234"), ("c", "1")])

    assert [cache.get(key) for key in "abc"] == ["1234", "1234", None]
