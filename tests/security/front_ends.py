"""Calls of a front end in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from testing.pages.browser import another_site


@pytest.fixture
def origins(settings: Settings) -> Iterator[tuple[str, str]]:
    """Two front ends; the first is allowed."""
    with another_site("Front end") as allowed, another_site("Front end") as foreign:
        settings.CORS_ALLOWED_ORIGINS = [allowed]
        yield allowed, foreign
