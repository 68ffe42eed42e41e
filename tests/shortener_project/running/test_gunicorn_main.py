"""The time that gunicorn's main process gives its workers."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from common.host import vitals
from shortener_project.running.gunicorn_main import STANDSTILL_SECONDS, watch

TIMEOUT = 30


def test_silent_workers_get_their_whole_time_again_after_a_standstill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    looked: list[float] = []
    monkeypatch.setattr(time, "monotonic", lambda: now)
    arbiter = SimpleNamespace(
        timeout=TIMEOUT, murder_workers=lambda: looked.append(now), reap_workers=lambda: None
    )
    watch(arbiter)
    arbiter.murder_workers()
    now += STANDSTILL_SECONDS
    arbiter.murder_workers()
    assert looked == [1000, 1005]

    now += 600
    continued = now
    for _ in range(TIMEOUT):
        arbiter.murder_workers()
        now += 1
    assert looked == [1000, 1005]
    arbiter.murder_workers()
    assert looked == [1000, 1005, continued + TIMEOUT]


def test_each_iteration_is_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vitals, "_of_all", {})
    monkeypatch.setattr(vitals, "_own", [])
    signs = vitals.create("web server")
    vitals.adopt(signs)
    arbiter = SimpleNamespace(timeout=TIMEOUT, murder_workers=lambda: None, reap_workers=lambda: None)
    watch(arbiter)
    arbiter.murder_workers()
    # While it waits for the old workers of a reload.
    arbiter.reap_workers()

    assert signs.beats == 2
