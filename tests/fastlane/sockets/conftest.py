from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from pytest_django.fixtures import Settings

from fastlane.compiled.event_loop import CompiledEventLoop
from fastlane.sockets.event_loop import EventLoop
from testing.fastlane.compiled import compiled_or_skip
from tests.fastlane.sockets.accepting import Accepting


@pytest.fixture(params=["compiled", "Python"])
def make_loop(request: pytest.FixtureRequest, settings: Settings) -> Callable[..., EventLoop]:
    settings.BASE_HOSTS = frozenset({"127.0.0.1"})
    is_compiled = request.param == "compiled"
    return partial(CompiledEventLoop, plain_links=compiled_or_skip()) if is_compiled else EventLoop


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def accepting(make_loop: Callable[..., EventLoop], opened: ExitStack) -> Accepting:
    return Accepting(make_loop, opened, socket.AF_INET, ("127.0.0.1", 0))
