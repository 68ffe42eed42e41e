from __future__ import annotations

from common.versions import bump, versions_of
from redirects.prepared import PreparedAnswers, holds, prepare, read_countries


def kept(answers: PreparedAnswers, numbers: range) -> list[int]:
    return [number for number in numbers if (key := b"%d" % number) in answers.young or answers.recall(key)]


def test_no_more_is_kept_than_entries_are_allowed_and_the_latest_are() -> None:
    answers = PreparedAnswers(entries=100, size=10_000_000)
    for number in range(1000):
        answers.put(b"%d" % number, b"x")

    assert kept(answers, range(900)) == []
    assert kept(answers, range(950, 1000)) == list(range(950, 1000))


def test_no_more_is_kept_than_bytes_are_allowed() -> None:
    answers = PreparedAnswers(entries=1000, size=100_000)
    for number in range(1000):
        answers.put(b"%d" % number, b"x" * 9_880)

    assert 5 <= len(kept(answers, range(1000))) <= 10


def test_what_is_learnt_again_takes_no_more_room() -> None:
    answers = PreparedAnswers(entries=1000, size=100_000)
    answers.put(b"other", b"x")
    for _ in range(1000):
        answers.put(b"again", b"x" * 9_880)

    assert b"other" in answers.young


def test_what_is_asked_for_again_and_again_stays() -> None:
    answers = PreparedAnswers(entries=100, size=10_000_000)
    answers.put(b"spring", b"here")
    for number in range(1000):
        assert (answers.young.get(b"spring") or answers.recall(b"spring")) == b"here"
        answers.put(b"%d" % number, b"x")


def test_nothing_of_an_unknown_host_holds_for_longer_than_a_moment() -> None:
    prepared = prepare(versions_of("go.example.com", "spring"), None)

    assert holds(prepared, 0.0)
    assert not holds(prepared, 9e9)


def test_a_new_link_ends_what_was_unknown() -> None:
    prepared = prepare(versions_of("go.example.com", "spring"), None)

    bump(new_codes=["spring"])

    assert not holds(prepared, 0.0)


def test_countries_are_read_as_they_were_written() -> None:
    assert read_countries(b"US,GB|") == (["US", "GB"], [])
    assert read_countries(b"|JP") == ([], ["JP"])
    assert read_countries(b"US|JP,FR") == (["US"], ["JP", "FR"])
