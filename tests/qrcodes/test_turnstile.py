from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, sleep

import pytest

from common.errors import Unavailable
from qrcodes.turnstile import Turnstile


def test_one_is_drawn_a_few_wait_and_the_rest_is_turned_away_at_once() -> None:
    gate, start, lock = Turnstile(3, 10), threading.Barrier(12), threading.Lock()
    inside, most, turned_away = 0, 0, []

    def draw() -> bool:
        nonlocal inside, most
        start.wait()
        began = perf_counter()
        try:
            with gate.turn():
                with lock:
                    inside += 1
                    most = max(most, inside)
                sleep(0.2)
                with lock:
                    inside -= 1
            return True
        except Unavailable:
            turned_away.append(perf_counter() - began)
            return False

    with ThreadPoolExecutor(12) as pool:
        drawn = [future.result() for future in [pool.submit(draw) for _ in range(12)]]
    assert (drawn.count(True), most) == (3, 1)
    # Long before the first was done.
    assert max(turned_away) < 0.2


def test_who_waits_does_not_wait_for_ever() -> None:
    gate = Turnstile(2, 0.05)
    with gate.turn(), ThreadPoolExecutor(1) as pool:

        def enter() -> None:
            with gate.turn():
                pytest.fail("was let in")

        with pytest.raises(Unavailable):
            pool.submit(enter).result()
    with gate.turn():
        pass


def test_a_drawing_that_fails_leaves_the_way_free() -> None:
    gate = Turnstile(1, 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), gate.turn():
            raise ZeroDivisionError
