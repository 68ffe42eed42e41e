from __future__ import annotations

from common.generations import Generations


def of_bytes(entries: int, size: int) -> Generations[bytes, bytes]:
    return Generations(entries, size, lambda key, value: len(key) + len(value))


def kept(answers: Generations[bytes, bytes], numbers: range) -> list[int]:
    return [number for number in numbers if answers.get(b"%d" % number)]


def test_no_more_is_kept_than_entries_are_allowed_and_the_latest_are() -> None:
    answers = of_bytes(entries=100, size=10_000_000)
    for number in range(1000):
        answers.put(b"%d" % number, b"x")

    assert kept(answers, range(900)) == []
    assert kept(answers, range(950, 1000)) == list(range(950, 1000))


def test_no_more_is_kept_than_bytes_are_allowed() -> None:
    answers = of_bytes(entries=1000, size=100_000)
    for number in range(1000):
        answers.put(b"%d" % number, b"x" * 10_000)

    assert 5 <= len(kept(answers, range(1000))) <= 10


def test_what_is_learnt_again_takes_no_more_room() -> None:
    answers = of_bytes(entries=1000, size=100_000)
    answers.put(b"other", b"x")
    for _ in range(1000):
        answers.put(b"again", b"x" * 10_000)

    assert b"other" in answers.young


def test_what_is_asked_for_again_and_again_stays() -> None:
    answers = of_bytes(entries=100, size=10_000_000)
    answers.put(b"spring", b"here")
    for number in range(1000):
        assert answers.get(b"spring") == b"here"
        answers.put(b"%d" % number, b"x")
