from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def link(make_link: Callable[..., dict[str, Any]]) -> str:
    """The ``_id`` of a link of Alice's."""
    return make_link()["_id"]
