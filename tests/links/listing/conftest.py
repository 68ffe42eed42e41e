from __future__ import annotations

import pytest

from links.list_counts import kept_counts


@pytest.fixture(autouse=True)
def _no_kept_counts() -> None:
    """Tests change the limit up to which links are counted."""
    kept_counts.clear()
