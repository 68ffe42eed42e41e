"""Links that the host has followed, and what is loaded of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fastlane.warm_start import SharedEntries


@pytest.fixture
def shared() -> Iterator[SharedEntries]:
    shared = SharedEntries()
    yield shared
    shared.close()
