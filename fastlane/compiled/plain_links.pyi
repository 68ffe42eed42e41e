"""Types of the compiled module. Its code is in `plain_links.pyx`."""

from collections.abc import Callable, Sequence
from typing import Any

from fastlane.fast.lane import FastLane
from fastlane.sockets.connections import Connection, OpenConnections

version: str
PREPARED_FORMAT: str
SIZES: tuple[int, int, int]

def frame(payload: bytes) -> bytes: ...

class PlainLinks:
    def __init__(
        self,
        lane: FastLane,
        connections: OpenConnections,
        *,
        on_special: Callable[[Connection, int], None],
        on_data: Callable[[Connection, bytes, bool], None],
        on_answered: Callable[[Connection, bytes, bytes, bool, bool], None],
        on_unrecorded: Callable[[Connection, bytes, bytes], None],
        on_dropped: Callable[[Connection], None],
    ) -> None: ...
    def listen(
        self,
        descriptor: int,
        *,
        is_internal: bool,
        try_admit: Callable[[Any], bool],
        on_accepted: Callable[[int, Any], Connection],
        on_finished: Callable[[Any], None],
        accept_in_python: Callable[[], None],
    ) -> None: ...
    def add_newcomers(self) -> None: ...
    def unlisten(self, descriptor: int) -> None: ...
    @property
    def is_watched_ready(self) -> bool: ...
    def run(self, timeout: float) -> Sequence[tuple[list[int], float]]: ...
