from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, sleep

import pytest

from qrcodes.studio import Busy, Studio


def test_one_is_drawn_a_few_wait_and_the_rest_is_turned_away_at_once() -> None:
    studio, start = Studio(3, 10), threading.Barrier(12)
    drawing, most, turned_away = 0, 0, []

    def picture() -> bytes:
        nonlocal drawing, most
        drawing += 1
        most = max(most, drawing)
        sleep(0.2)
        drawing -= 1
        return b"picture"

    def ask() -> bytes | None:
        start.wait()
        began = perf_counter()
        try:
            with studio.room():
                return studio.draw(picture)
        except Busy:
            turned_away.append(perf_counter() - began)
            return None

    with ThreadPoolExecutor(12) as pool:
        answers = [future.result() for future in [pool.submit(ask) for _ in range(12)]]
    assert (answers.count(b"picture"), most) == (3, 1)
    # Long before the first was done.
    assert max(turned_away) < 0.2


def test_who_waits_does_not_wait_for_ever_and_is_not_drawn_in_vain() -> None:
    studio, done, drawn = Studio(3, 0.05), threading.Event(), []

    def long() -> bytes:
        done.wait()
        return b""

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(studio.draw, long)
        sleep(0.01)
        with pytest.raises(Busy):
            studio.draw(lambda: drawn.append(1) or b"")  # type: ignore[func-returns-value]
        with pytest.raises(Busy):
            first.result()
    done.set()
    assert studio.draw(lambda: b"next") == b"next"
    assert not drawn


def test_a_drawing_that_fails_leaves_the_way_free() -> None:
    studio = Studio(1, 1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), studio.room():
            studio.draw(lambda: bytes(1 // 0))
    with studio.room():
        assert studio.draw(lambda: b"next") == b"next"
