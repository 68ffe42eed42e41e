"""Reports of a link with branches."""

from __future__ import annotations

import pytest

from testing.analytics.branches import branch, set_branches

GERMANY, FRANCE, SPLIT = (branch(number, name) for number, name in enumerate(("Germany", "France", "B"), 1))


@pytest.fixture
def routed(link: str) -> str:
    set_branches(link, [GERMANY, FRANCE], [SPLIT])
    return link
