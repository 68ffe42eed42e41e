"""A restored database or journal loses no record that the other one has."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import example, given
from hypothesis import strategies as st

from tests.analytics.counting.journals.hosts import Host, shared_fixtures, steps
from tests.analytics.counting.journals.hosts import link as link
from tests.analytics.counting.journals.hosts import short_chunks as short_chunks

restores = st.tuples(st.sampled_from(["dump", "restore"]), st.just(0), st.just(0))
# A disk fails after half of the records were counted. The restored database has counted fewer, and the copies of
# records that were wiped at their origin still exist.
RESTORED_BELOW_COPIES = [
    ("append", 0, 4), ("sync", 0, 0), ("dump", 0, 0), ("append", 0, 8), *[("drain", 0, 9)] * 3, ("fail", 0, 1),
    ("restore", 0, 0), ("drain", 0, 15),
]  # fmt: skip
RESTORED_BELOW_DELETED = [
    ("append", 0, 4), ("drain", 0, 2), ("dump", 0, 0), ("die", 0, 0), ("drain", 0, 15), ("drain", 0, 15),
    ("restore", 0, 0), ("append", 0, 3), ("drain", 0, 15),
]  # fmt: skip


@pytest.mark.slow
@shared_fixtures
@given(script=st.lists(st.one_of(steps, steps, restores), min_size=3, max_size=30))
@example(script=RESTORED_BELOW_COPIES)
@example(script=RESTORED_BELOW_DELETED)
def test_restore_keeps_every_record_of_the_database_or_the_journal(
    link: int, script: list[tuple[str, int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, transaction.atomic():
        host = Host(Path(folder), link)
        for step in script:
            host.run(*step)
            host.assert_counted_once()
        for which in (0, 1):
            host.end(which)
        host.drain_all()
        assert host.counted() == Counter(set(host.redirected) - host.lost)
        assert [path.suffix for path in Path(folder).iterdir() if path.suffix] == []
        transaction.set_rollback(True)
