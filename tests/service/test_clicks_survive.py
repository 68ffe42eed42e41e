"""A click that was answered is counted, once; `make prove-clicks` kills more often."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bench.proof import service_faults
from bench.proof.service_faults import Target
from bench.proof.verdict import Verdict
from tests.service.hosts import started


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with started() as service:
        yield service_faults.target(service, service.owner.api_key, seed=7)


@pytest.mark.parametrize(
    "fault",
    [
        lambda target: service_faults.workers_killed(target, 6),
        lambda target: service_faults.drainers_killed(target, 8),
        lambda target: service_faults.everything_killed(target, 1),
        lambda target: service_faults.database_stopped(target, 5),
    ],
    ids=["workers killed", "drainers killed", "everything killed", "database stopped"],
)
def test_every_answered_click_is_counted_once(target: Target, fault: Callable[[Target], Verdict]) -> None:
    verdict = fault(target)
    assert verdict.problems == [], str(verdict)
    assert verdict.answered > 100
