"""What the proof of the failover calls a violation, from rows with known verdicts."""

from __future__ import annotations

from testing.failover.probes import Write, two_writers
from testing.failover.truth import Findings, differing_counters
from testing.failover.writers import LATE_SECONDS, Edited


def write(node: str, timeline: int, began: float) -> Write:
    return Write(node, 1, timeline, began, began + 1)


def test_one_server_accepts_writes() -> None:
    first = write("db1", 1, 0)
    assert two_writers([first, write("db2", 2, 5), write("db2", 2, 6), write("db1", 3, 9)]) == []
    # It began before the response to the other one.
    assert two_writers([first, write("db2", 2, 5), write("db1", 1, 5.5)]) == []
    assert two_writers([first, write("db2", 2, 5), write("db1", 1, 8)]) == [
        "db1 accepted a write on timeline 1 2.00 s after one on a later timeline"
    ]
    assert two_writers([first, write("db2", 1, 5)]) == ["db2 accepted a write on timeline 1 of db1"]
    # Two promotions.
    assert two_writers([first, write("db3", 2, 6), write("db2", 2, 5)]) == [
        "db3 accepted a write on timeline 2 of db2"
    ]


def test_a_link_ends_at_its_last_acknowledged_edit_or_at_one_of_unknown_outcome_after_it() -> None:
    acknowledged = [(number, float(number), "app1") for number in (1, 2, 4, 5, 500)]
    link = Edited("id", "code", acknowledged, {3: 3, 499: 499, 501: 501})
    ends = [number for number in (0, 1, 3, 5, 499, 500, 501, 502) if link.may_end_at(number)]
    # The one just before the last can have come late; the third one not by minutes.
    assert (ends, LATE_SECONDS) == ([499, 500, 501], 120)
    assert [Edited("id", "code").may_end_at(number) for number in (0, 1)] == [True, False]


def test_each_link_has_as_many_clicks_as_its_counter_says() -> None:
    assert differing_counters({"a": 2, "new": 0}, {"a": 2}) == 0
    assert differing_counters({"a": 2}, {"a": 1}) == 1
    assert differing_counters({}, {"a": 1, "b": 1}) == 2
    assert differing_counters({"a": 1}, {}) == 1


def test_what_nothing_has_tried_to_break_is_not_proven() -> None:
    findings = Findings()
    findings.some_of(reached_cap=0, redirected_click=5)
    assert (findings.unproven, findings.problems) == (["no reached cap"], [])
