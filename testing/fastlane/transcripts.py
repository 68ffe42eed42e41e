"""What made-up clients send to an event loop, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fastlane.sockets.outgoing import Incoming


class Conversation(NamedTuple):
    """``peers``: the clients' addresses. ``steps``: what clients send at the same time, their number and bytes, where
    b"" shuts down their side. ``is_slow``: they take little at once, and read at the end.

    ``is_ending``: the process is stopping. ``fails``: the journal cannot be written. ``guessers``: these addresses
    have requested too many unknown codes. ``waits``: the loop may wait for the next event. ``is_accepted``: the loop
    accepts the clients from a Unix socket, where they have no address.
    """

    peers: Sequence[str]
    steps: Sequence[Sequence[tuple[int, bytes]]]
    is_slow: bool = False
    is_ending: bool = False
    fails: bool = False
    guessers: Sequence[str] = ()
    waits: bool = False
    is_accepted: bool = False


class Transcript(NamedTuple):
    """For each client the bytes received, requests deferred, and state of the connection (None: closed or released).

    ``records`` by address: which client's request comes first in an iteration is not defined. ``counts``: for the
    metrics. ``admitted``: connections that are counted as open.
    """

    received: list[bytes]
    deferred: list[list[Incoming]]
    states: list[tuple[object, ...] | None]
    records: dict[str, list[bytes]]
    counts: dict[str, object]
    buffered: int
    admitted: int
