from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from qrcodes.drawing import KEPT_BYTES, LARGEST_KEPT, Busy, DrawingQueue
from testing.polling import DEADLINE, eventually

REQUESTS, WAITING = 12, 2


def test_the_queue_is_bounded_and_rejects_further_requests_at_once() -> None:
    queue, start = DrawingQueue(WAITING, DEADLINE), threading.Barrier(REQUESTS)
    drawing, most, rejected = 0, 0, threading.Semaphore(0)
    all_rejected = threading.Event()

    def picture() -> bytes:
        nonlocal drawing, most
        drawing += 1
        most = max(most, drawing)
        assert all_rejected.wait(DEADLINE)
        drawing -= 1
        return b"picture"

    def draw(number: int) -> bytes | None:
        start.wait(DEADLINE)
        try:
            return queue.image(bytes([number]), f"client {number}", picture)
        except Busy:
            rejected.release()
            return None

    with ThreadPoolExecutor(REQUESTS) as pool:
        futures = [pool.submit(draw, number) for number in range(REQUESTS)]
        # The first drawing ends only after all these rejections.
        for _ in range(REQUESTS - 1 - WAITING):
            assert rejected.acquire(timeout=DEADLINE)
        all_rejected.set()
        drawings = [future.result() for future in futures]
    assert (drawings.count(b"picture"), most) == (1 + WAITING, 1)


def test_one_client_does_not_keep_images_from_another() -> None:
    """It holds one place, however many connections it has, and the place of the drawing."""
    queue, go_on = DrawingQueue(WAITING, DEADLINE), threading.Event()

    def draw(client: str, number: int) -> bytes | None:
        try:
            return queue.image(
                f"{client} {number}".encode(), client, lambda: b"drawn" if go_on.wait(DEADLINE) else b""
            )
        except Busy:
            return None

    with ThreadPoolExecutor(REQUESTS) as pool:
        greedy = [pool.submit(draw, "greedy", number) for number in range(REQUESTS - 1)]
        # All but the one that is being drawn and the one that waits.
        assert eventually(lambda: sum(future.done() for future in greedy) == REQUESTS - 3)
        other = pool.submit(draw, "other", 0)
        assert eventually(lambda: len(queue.admission._waiting) == 2)
        go_on.set()
        assert other.result(DEADLINE) == b"drawn"
        assert [future.result(DEADLINE) for future in greedy].count(b"drawn") == 2


def test_a_queued_request_times_out_and_is_not_drawn() -> None:
    queue, begun, done, drawn = DrawingQueue(WAITING, 0.05), threading.Event(), threading.Event(), []

    def long() -> bytes:
        begun.set()
        done.wait()
        return b""

    def next_picture() -> bytes | None:
        try:
            return queue.image(b"next", "next", lambda: b"next")
        except Busy:
            return None

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(queue.image, b"first", "first", long)
        assert begun.wait(DEADLINE)
        with pytest.raises(Busy):
            queue.image(b"second", "second", lambda: drawn.append(1) or b"")
        with pytest.raises(Busy):
            first.result()
    done.set()
    # The timeout is too short for a busy machine.
    assert eventually(next_picture) == b"next"
    assert not drawn


def test_a_failed_drawing_does_not_block_the_queue() -> None:
    queue = DrawingQueue(0, DEADLINE)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            queue.image(b"x", "client", lambda: bytes(1 // 0))
    assert queue.image(b"x", "client", lambda: b"next") == b"next"


def test_an_image_is_drawn_once_for_all_who_wait_for_it() -> None:
    queue, go_on, drawn = DrawingQueue(WAITING, DEADLINE), threading.Event(), []

    def picture() -> bytes:
        drawn.append(1)
        assert go_on.wait(DEADLINE)
        return b"picture"

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(queue.image, b"x", f"client {number}", picture) for number in range(3)]
        assert eventually(lambda: len(queue.admission._waiting) == 2)
        go_on.set()
        assert [future.result(DEADLINE) for future in futures] == [b"picture"] * 3
    assert queue.image(b"x", "another", picture) == b"picture"
    assert drawn == [1]


def test_the_kept_images_are_bounded() -> None:
    queue, size = DrawingQueue(WAITING, DEADLINE), LARGEST_KEPT
    for number in range(40):
        queue.image(bytes([number]), "client", lambda: b"x" * size)
    kept = [number for number in range(40) if queue._drawn.get(bytes([number])) is not None]
    assert kept
    assert len(kept) * size <= KEPT_BYTES
    assert 39 in kept
    queue.image(b"large", "client", lambda: b"x" * (size + 1))
    assert queue._drawn.get(b"large") is None
