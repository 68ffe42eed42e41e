"""Random scripts of appends, failures, restores and batches: every record is pending or counted exactly once."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import example, given
from hypothesis import strategies as st

from analytics.models import JournalLoss
from testing.connections import force_nested_loops
from tests.analytics.counting.journals.hosts import Host, shared_fixtures, steps
from tests.analytics.counting.journals.hosts import link as link
from tests.analytics.counting.journals.hosts import short_chunks as short_chunks

# The first segment takes more than one read; copies in the second segment name origins beyond the first read.
REWRITTEN_BEHIND_A_BACKLOG = [
    ("append", 0, 8), ("sync", 0, 0), ("append", 0, 3), ("fail", 0, 0), ("drain", 0, 15),
]  # fmt: skip
# Both copies of a record that cannot be counted name a segment that the first rewrite emptied.
POISON_REWRITTEN_TWICE = [("poison", 0, 0), ("fail", 0, 0), ("fail", 0, 1)]
FINISHED_BEHIND_PENDING = [("append", 0, 12), ("die", 0, 0), ("pending", 0, 12), ("drain", 0, 5)]


@pytest.mark.slow
@shared_fixtures
@given(script=st.lists(steps, min_size=1, max_size=25), nested_loops=st.booleans(), is_mirrored=st.booleans())
@example(script=REWRITTEN_BEHIND_A_BACKLOG, nested_loops=False, is_mirrored=True)
@example(script=POISON_REWRITTEN_TWICE, nested_loops=False, is_mirrored=True)
@example(script=FINISHED_BEHIND_PENDING, nested_loops=True, is_mirrored=False)
def test_every_acknowledged_record_is_pending_or_counted_once(
    link: int, script: list[tuple[str, int, int]], nested_loops: bool, is_mirrored: bool
) -> None:
    with tempfile.TemporaryDirectory() as root, transaction.atomic():
        folder, mirror = Path(root, "clicks"), Path(root, "mirror") if is_mirrored else None
        if nested_loops:
            force_nested_loops()
        if mirror is not None:
            mirror.mkdir()
        host = Host(folder, link, mirror)
        for step in script:
            host.run(*step)
            host.assert_counted_once()
        for which in (0, 1):
            host.end(which)
        host.drain_all()
        assert host.counted() == Counter(host.redirected)
        assert list(Path(root).glob("*/*.segment")) == []
        assert JournalLoss.objects.count() == 0
        transaction.set_rollback(True)
