from __future__ import annotations

import time
from datetime import UTC, datetime
from math import inf, nextafter

import time_machine

from common.host.cache_versions import bump, versions_of
from fastlane.fast.answers import pack_unknown_code
from fastlane.fast.prepared import is_current, prepare, prepared_answers, valid_for_waiting
from links.destinations.lookup import Target, UnknownCode


def test_an_entrys_size_is_its_key_its_bytes_and_an_overhead() -> None:
    responses = prepared_answers(entries=1000, size=100_000)
    for number in range(1000):
        responses.put(b"%d" % number, b"x" * 9_880)

    assert 5 <= len([number for number in range(1000) if responses.get(b"%d" % number)]) <= 10


def test_the_overhead_of_small_entries_counts() -> None:
    answers = prepared_answers(entries=10_000, size=100_000)
    for number in range(10_000):
        answers.put(b"%04d" % number, b"x")

    # 125 bytes each, in two generations of 50,000 bytes.
    assert 400 <= len([number for number in range(10_000) if answers.get(b"%04d" % number)]) <= 802


def test_an_entry_of_an_unknown_host_expires_soon() -> None:
    # Read the time inside: on its way to the stopped clock, a time may be rounded.
    with time_machine.travel(time.time(), tick=False):
        now = time.time()
        prepared = prepare(versions_of("go.example.com", "spring"), None)

    assert [is_current(prepared, now + seconds) for seconds in (-0.01, 0.049, 0.05)] == [True, True, False]


def test_an_unknown_code_expires_when_the_clock_is_set_back() -> None:
    with time_machine.travel(time.time(), tick=False):
        now = time.time()
        prepared = prepare(versions_of("go.example.com", "spring"), None)

    # It is valid for 0.05 s. The lane keeps an entry that would be valid for at most twice that.
    assert [is_current(prepared, now - seconds) for seconds in (0.04, 0.06, 3600)] == [True, False, False]


def test_only_an_ascii_url_fits_the_answer_to_an_unknown_code() -> None:
    urls = ("https://example.com/lost", "https://b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example/")

    assert [bool(pack_unknown_code(UnknownCode(1, url))) for url in urls] == [True, False]


def test_an_unknown_code_that_has_expired_answers_the_requests_that_waited_for_it_and_no_others() -> None:
    versions = versions_of("", "spring")
    with time_machine.travel(time.time(), tick=False):
        now = time.time()
        prepared = prepare(versions, UnknownCode(None, None))
    later = now + 3.0
    renewed = valid_for_waiting(prepared, later)

    assert valid_for_waiting(prepared, now) == prepared
    assert [is_current(entry, later) for entry in (prepared, renewed)] == [False, True]
    assert not is_current(renewed, nextafter(later, inf))
    assert len(renewed) == len(prepared)

    bump(new_codes=["spring"])

    assert not is_current(renewed, later)


def test_a_link_that_has_expired_does_not_answer_the_requests_that_waited_for_it() -> None:
    ends = time.time() + 1.0
    target = Target(1, "", "https://example.com/", 302, expires_at=datetime.fromtimestamp(ends, UTC))
    prepared = prepare(versions_of("", "spring"), target)

    assert valid_for_waiting(prepared, ends + 1.0) == prepared


def test_a_new_link_invalidates_the_unknown_entry() -> None:
    now = time.time()
    with time_machine.travel(now, tick=False):
        prepared = prepare(versions_of("go.example.com", "spring"), None)
    assert is_current(prepared, now)

    bump(new_codes=["spring"])

    assert not is_current(prepared, now)
