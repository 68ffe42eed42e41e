"""A fixed twentieth of the requests of `make fuzz-api`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from testing.contract.fuzzing import fuzz
from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service

pytestmark = pytest.mark.slow

# Most requests are systematic, whatever the number of examples.
SEED, EXAMPLES = 1, 10
A_TWENTIETH = 34_000 // 20


# Thousands of requests one after the other, possibly on a busy machine.
@pytest.mark.timeout(3600)
def test_every_response_to_generated_requests_matches_the_description(
    make_service: Callable[..., Service], make_database: Callable[[], str], tmp_path: Path
) -> None:
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
    service.start()

    verdict = fuzz(service, tmp_path, examples=EXAMPLES, seed=SEED)

    assert verdict.failures == [], verdict.output
    assert verdict.server_errors == 0
    assert verdict.cases >= A_TWENTIETH
