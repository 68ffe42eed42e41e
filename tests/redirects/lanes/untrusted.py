"""Proxies that are not trusted, and the warnings about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from common.host.limited_warnings import untrusted_proxies

FORWARDED = "198.51.100.5"


@pytest.fixture(autouse=True)
def separate_file(settings: Settings, tmp_path: Path, db: None) -> Iterator[None]:
    settings.VERSIONS_FILE = tmp_path / "versions"
    untrusted_proxies.cache_clear()
    yield
    untrusted_proxies.cache_clear()


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    def messages() -> list[str]:
        return [
            record.getMessage() for record in caplog.records if record.name == "common.host.limited_warnings"
        ]

    return messages
