from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from qrcodes.drawing.queue import Busy, DrawingQueue
from testing.polling import DEADLINE, eventually

REQUESTS, CAPACITY = 12, 3


def test_the_queue_is_bounded_and_rejects_further_requests_at_once() -> None:
    queue, start = DrawingQueue(CAPACITY, DEADLINE), threading.Barrier(REQUESTS)
    drawing, most, rejected = 0, 0, threading.Semaphore(0)
    all_rejected = threading.Event()

    def picture() -> bytes:
        nonlocal drawing, most
        drawing += 1
        most = max(most, drawing)
        assert all_rejected.wait(DEADLINE)
        drawing -= 1
        return b"picture"

    def draw() -> bytes | None:
        start.wait(DEADLINE)
        try:
            with queue.slot():
                return queue.draw(picture)
        except Busy:
            rejected.release()
            return None

    with ThreadPoolExecutor(REQUESTS) as pool:
        futures = [pool.submit(draw) for _ in range(REQUESTS)]
        # The first drawing ends only after all these rejections.
        for _ in range(REQUESTS - CAPACITY):
            assert rejected.acquire(timeout=DEADLINE)
        all_rejected.set()
        drawings = [future.result() for future in futures]
    assert (drawings.count(b"picture"), most) == (CAPACITY, 1)


def test_a_queued_request_times_out_and_is_not_drawn() -> None:
    queue, begun, done, drawn = DrawingQueue(CAPACITY, 0.05), threading.Event(), threading.Event(), []

    def long() -> bytes:
        begun.set()
        done.wait()
        return b""

    def next_picture() -> bytes | None:
        try:
            return queue.draw(lambda: b"next")
        except Busy:
            return None

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(queue.draw, long)
        assert begun.wait(DEADLINE)
        with pytest.raises(Busy):
            queue.draw(lambda: drawn.append(1) or b"")
        with pytest.raises(Busy):
            first.result()
    done.set()
    # The timeout is too short for a busy machine.
    assert eventually(next_picture) == b"next"
    assert not drawn


def test_a_failed_drawing_does_not_block_the_queue() -> None:
    queue = DrawingQueue(1, DEADLINE)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), queue.slot():
            queue.draw(lambda: bytes(1 // 0))
    with queue.slot():
        assert queue.draw(lambda: b"next") == b"next"
