"""Every click that got a response is counted exactly once; `make prove-clicks` injects more faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from testing.proof import service_faults, webhook_faults
from testing.proof.service_faults import Target
from testing.proof.verdict import Verdict
from testing.service.hosts import started

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with started(**webhook_faults.ENVIRONMENT) as service:
        yield service_faults.target(service, service.owner.api_key, seed=7)


@pytest.mark.parametrize(
    "fault",
    [
        lambda target: service_faults.workers_killed(target, 6),
        lambda target: service_faults.drainers_killed(target, 8),
        lambda target: service_faults.everything_killed(target, 1),
        lambda target: service_faults.database_stopped(target, 5),
        lambda target: webhook_faults.receiver_served(target, 4),
    ],
    ids=["workers killed", "drainers killed", "everything killed", "database stopped", "receivers killed"],
)
def test_every_redirect_is_counted_once(target: Target, fault: Callable[[Target], Verdict]) -> None:
    verdict = fault(target)
    assert verdict.problems == [], str(verdict)
    assert verdict.redirected > 100
