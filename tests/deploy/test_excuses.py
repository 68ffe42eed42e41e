"""What the proof of the failover excuses: `testing.failover.excuses`."""

from __future__ import annotations

from testing.failover.excuses import Broken, judge_losses
from testing.failover.faults import FAULTS

CUT_OFF = "503 database: the database does not respond, changes: none heard for … s; 503 changes: none heard for … s"


def step(**faults: str) -> Broken:
    """A step of these faults, in which app1 reports two lost clicks and app2 one."""
    broken = [(FAULTS[name.replace("_", "-")], where) for name, where in faults.items()]
    return Broken(broken, 10, 20, {"app1": 2, "app2": 1})


def test_clicks_may_be_lost_on_the_host_whose_journal_is_full_while_the_database_is_dead() -> None:
    both = step(journal_full="app1", postgres_killed="db2")
    losses = judge_losses([9, 11, 19], [both])
    # One before the fault, and one that the other host reports, whose journal has space.
    assert (losses.excused, losses.unexcused, losses.reported, losses.unexcused_reports) == (2, 1, 2, 1)
    assert losses.steps == ["journal-full + postgres-killed"]
    assert judge_losses([11, 12, 13], [both]).unexcused == 1


def test_no_other_fault_excuses_a_lost_click() -> None:
    for other in (
        step(journal_full="app1"),
        step(postgres_killed="db2"),
        step(journal_full="app1", standby_killed="db2"),
        step(journal_full="app1", service_without_database="app2"),
    ):
        losses = judge_losses([11, 19], [other])
        assert (losses.excused, losses.unexcused, losses.unexcused_reports, losses.steps) == (0, 2, 3, [])


def test_old_destinations_are_bounded_by_what_a_host_lacks_and_says() -> None:
    outage = step(leader_frozen="db1")
    assert outage.oldest_seconds("app1", CUT_OFF) == 3602
    # Its workers reach the database.
    assert outage.oldest_seconds("app1", "503 changes: none heard for … s") == 7
    assert outage.oldest_seconds("app1", "200") == 7
    assert step(standby_killed="db1").oldest_seconds("app1", CUT_OFF) == 7
    cut_off = step(service_outdated="app2", switchover="db1 to db2")
    assert [cut_off.oldest_seconds(host, CUT_OFF) for host in ("app1", "app2")] == [3602, 22]
    assert step(service_outdated="app2").oldest_seconds("app1", CUT_OFF) == 7
