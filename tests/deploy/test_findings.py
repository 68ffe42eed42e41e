"""What the proof of the failover calls a violation, from rows with known verdicts."""

from __future__ import annotations

from testing.failover.probes import Write, two_writers


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
