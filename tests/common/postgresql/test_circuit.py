from __future__ import annotations

import pytest

from common.postgresql import base
from common.postgresql.base import RETRY_SECONDS, SLOW_SECONDS, TRIAL_SECONDS, Circuit


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(base.time, "monotonic", lambda: now[0])
    return now


def test_a_server_that_refuses_quickly_is_tried_by_every_caller(clock: list[float]) -> None:
    breaker = Circuit()
    for _ in range(3):
        assert breaker.allows_attempt()
        breaker.failed(0.01)
    assert breaker.allows_attempt()


def test_an_unresponsive_server_is_tried_by_one_caller_at_a_time_with_pauses(
    clock: list[float],
) -> None:
    breaker = Circuit()
    assert breaker.allows_attempt()
    breaker.failed(SLOW_SECONDS)
    assert not breaker.allows_attempt()

    clock[0] += RETRY_SECONDS
    assert [breaker.allows_attempt() for _ in range(3)] == [True, False, False]
    breaker.failed(SLOW_SECONDS)
    assert not breaker.allows_attempt()

    clock[0] += RETRY_SECONDS
    assert breaker.allows_attempt()
    breaker.succeeded()
    assert [breaker.allows_attempt() for _ in range(3)] == [True, True, True]


def test_an_attempt_without_a_result_blocks_others_only_for_a_while(clock: list[float]) -> None:
    breaker = Circuit()
    breaker.failed(SLOW_SECONDS)
    clock[0] += RETRY_SECONDS
    assert breaker.allows_attempt()

    clock[0] += TRIAL_SECONDS
    assert breaker.allows_attempt()
