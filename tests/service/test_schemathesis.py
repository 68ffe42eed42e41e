"""A twentieth of what `make fuzz-api` sends, always the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.fuzzing import fuzz
from tests.service.hosts import SECRET_KEY
from tests.service.running import Service

SEED, EXAMPLES = 1, 25
A_TWENTIETH = 34_000 // 20


@pytest.mark.timeout(600)
def test_every_answer_to_made_up_requests_is_as_described(
    make_service: Callable[..., Service], make_database: Callable[[], str], tmp_path: Path
) -> None:
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY)
    service.start()

    verdict = fuzz(service, tmp_path, examples=EXAMPLES, seed=SEED)

    assert verdict.failures == [], verdict.output
    assert verdict.server_errors == 0
    assert verdict.cases >= A_TWENTIETH
