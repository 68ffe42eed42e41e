"""The queue in front of password hashing and of drawn images."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest

from accounts.admission import Admission, TooManyAtOnce
from common.errors import Unavailable
from testing.polling import DEADLINE, eventually


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


class Call:
    """A call in a thread of its own, which stays inside until `finish`."""

    def __init__(self, pool: ThreadPoolExecutor, admission: Admission, caller: str) -> None:
        self.caller = caller
        self.inside, self._finished = Event(), Event()
        self._admission = admission
        self.outcome: Future[str] = pool.submit(self._run)

    def _run(self) -> str:
        try:
            with self._admission.admit(self.caller):
                self.inside.set()
                assert self._finished.wait(DEADLINE)
        except TooManyAtOnce:
            return "refused"
        return "admitted"

    def finish(self) -> str:
        self._finished.set()
        return self.outcome.result(DEADLINE)


def waiting(admission: Admission) -> list[str]:
    return [waiter.caller for waiter in admission._waiting]


def call(pool: ThreadPoolExecutor, admission: Admission, caller: str) -> Call:
    """A call that is inside or waits."""
    started = Call(pool, admission, caller)
    assert eventually(lambda: started.inside.is_set() or caller in waiting(admission))
    return started


def admission(at_once: int = 1, places: int = 1) -> Admission:
    return Admission(at_once, places, seconds=DEADLINE)


def test_a_call_waits_for_its_turn(pool: ThreadPoolExecutor) -> None:
    queue = admission()
    first, second = call(pool, queue, "a"), call(pool, queue, "b")
    assert not second.inside.is_set()
    assert first.finish() == "admitted"
    assert second.inside.wait(DEADLINE)
    assert second.finish() == "admitted"


def test_a_caller_has_one_place_in_the_queue(pool: ThreadPoolExecutor) -> None:
    queue = admission(places=2)
    first, second = call(pool, queue, "a"), call(pool, queue, "a")
    with pytest.raises(TooManyAtOnce), queue.admit("a"):
        pass
    assert waiting(queue) == ["a"]
    assert [first.finish(), second.finish()] == ["admitted", "admitted"]


def test_a_new_caller_takes_the_place_of_the_one_that_was_admitted_last(pool: ThreadPoolExecutor) -> None:
    queue = admission(places=2)
    running = call(pool, queue, "a")
    again, other = call(pool, queue, "a"), call(pool, queue, "b")
    owner = call(pool, queue, "owner")
    assert again.outcome.result(DEADLINE) == "refused"
    assert waiting(queue) == ["b", "owner"]
    with pytest.raises(TooManyAtOnce), queue.admit("c"):
        pass
    assert [started.finish() for started in (running, other, owner)] == ["admitted"] * 3


@pytest.mark.slow
def test_callers_that_come_without_pause_cannot_keep_another_one_out(pool: ThreadPoolExecutor) -> None:
    """Four networks that always have a call running or waiting."""
    queue, attackers = admission(at_once=2, places=1), ["a", "b", "c", "d"]
    for name in attackers:
        with queue.admit(name):
            pass
    running = [call(pool, queue, name) for name in attackers[:2]]
    for _ in range(20):
        pushed_out = call(pool, queue, "c")
        owner = call(pool, queue, "owner")
        assert pushed_out.outcome.result(DEADLINE) == "refused"
        assert running.pop(0).finish() == "admitted"
        assert owner.inside.wait(DEADLINE)
        assert owner.finish() == "admitted"
        running.append(call(pool, queue, "d"))
        # The attackers were admitted since the owner was.
        for name in attackers:
            queue._start(name)
            queue._running -= 1
    assert [started.finish() for started in running] == ["admitted"] * 2


def test_the_next_place_goes_to_the_caller_that_has_had_none_for_the_longest(
    pool: ThreadPoolExecutor,
) -> None:
    queue = admission(places=3)
    with queue.admit("b"):
        old, new = call(pool, queue, "b"), call(pool, queue, "new")
        assert waiting(queue) == ["b", "new"]
    assert new.inside.wait(DEADLINE)
    assert not old.inside.is_set()
    assert [new.finish(), old.finish()] == ["admitted"] * 2


def test_nobody_waits_for_ever() -> None:
    queue = Admission(1, 1, seconds=0.01)
    with queue.admit("a"), pytest.raises(TooManyAtOnce), queue.admit("b"):
        pass
    assert waiting(queue) == []
    with queue.admit("b"):
        pass


def test_the_refusal_can_be_another_one() -> None:
    queue = Admission(1, 0, seconds=DEADLINE, refusal=Unavailable)
    with queue.admit("a"), pytest.raises(Unavailable), queue.admit("b"):
        pass
