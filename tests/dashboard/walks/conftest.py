from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from accounts.services import NewAccount
from testing.pages.chromium import Chromium
from testing.pages.dashboard import session_cookie
from tests.dashboard.walks.walker import LOOKS, Look, Walker, texts


@pytest.fixture(params=LOOKS, ids=str)
def look(request: pytest.FixtureRequest) -> Look:
    return request.param


@pytest.fixture
def walk(
    look: Look, chromium: Chromium, address: str, alice: NewAccount, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Any]:
    """Returns a context manager with Alice as the walker. Outside its block, the test can use the database."""
    pictures = os.environ.get("WALK_PICTURES")
    known = texts(look.language, tmp_path_factory.getbasetemp())

    @contextmanager
    def walk() -> Iterator[Walker]:
        cookie = session_cookie(alice.user)
        with chromium.page(fresh=True, **look.options()) as page:
            walker = Walker(
                page, look, address=address, texts=known, pictures=Path(pictures) if pictures else None
            )
            walker.sign_in(cookie)
            yield walker

    return walk
