from __future__ import annotations

from common.versions import bump, versions_of
from redirects.prepared import holds, prepare, prepared_answers, read_countries


def test_an_answer_costs_its_bytes_those_of_its_key_and_its_places() -> None:
    answers = prepared_answers(entries=1000, size=100_000)
    for number in range(1000):
        answers.put(b"%d" % number, b"x" * 9_880)

    assert 5 <= len([number for number in range(1000) if answers.get(b"%d" % number)]) <= 10


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
