"""Accepts connections, and decides which clients get one."""

from __future__ import annotations

import errno
import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from django.conf import settings

from common.http.client_address import client_site, is_trusted
from fastlane.sockets.connections import OpenConnections
from fastlane.sockets.event_loop import EventLoop

# Shares of the limit: capacity reserved for new connections, and idle connections closed per eviction.
_RESERVED = 1 / 20
_EVICTED = 1 / 200


class Admission:
    """Counts the connections of each address, and makes room for new ones. ``per_address`` 0: no limit for each."""

    def __init__(self, connections: OpenConnections, *, limit: int, per_address: int) -> None:
        self._connections = connections
        self._high_water_mark = limit - max(1, int(limit * _RESERVED))
        self._evicted = max(1, int(limit * _EVICTED))
        self._per_address = per_address
        self._counts: dict[str, int] = {}

    def try_admit(self, client: Any) -> bool:
        """Count a new connection unless its address is at the limit. Return whether it was admitted."""
        address = _address(client)
        site = _site(address)
        count = self._counts.get(site, 0)
        if self._per_address and count >= self._per_address and not _is_exempt(address):
            return False
        self._counts[site] = count + 1
        return True

    def remove(self, client: Any) -> None:
        site = _site(_address(client))
        count = self._counts.get(site, 0)
        if count > 1:
            self._counts[site] = count - 1
        else:
            self._counts.pop(site, None)

    def free_capacity(self, number: int) -> None:
        """Close the longest-idle connections if ``number`` open connections leave less than the reserve."""
        if number > self._high_water_mark:
            self.evict()

    def evict(self) -> int:
        """Close the longest-idle connections. Return how many were closed."""
        return self._connections.drop_longest_idle(self._evicted)


def _address(client: Any) -> str:
    """Return the client's address. Unix socket peers have none."""
    return client[0] if isinstance(client, tuple) else ""


_site = lru_cache(maxsize=8192)(client_site)


@lru_cache(maxsize=8192)
def _is_exempt(address: str) -> bool:
    return not address or is_trusted(address, settings.TRUSTED_PROXIES)


# Errors of a process, or of the host, that can open no more files.
OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
# Connections accepted in one iteration, so that no event source starves the others.
_MAX_ACCEPTED = 64
_PAUSE_SECONDS = 1.0


class Acceptor:
    """Adds each connection that ``try_admit`` admits (by the client's address) to the event loop. ``on_finished``: see
    `event_loop.ConnectionSource`, which this class is.

    Out of descriptors, it closes idle connections to accept new ones. If none is open, it calls ``on_paused`` and
    stays paused for a second: the waiting client keeps its listener readable, so the process would spin otherwise.
    """

    def __init__(
        self,
        loop: EventLoop,
        admission: Admission,
        *,
        try_admit: Callable[[Any], bool],
        on_finished: Callable[[Any], None],
        on_paused: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._admission = admission
        self.try_admit = try_admit
        self.on_finished = on_finished
        self._on_paused = on_paused
        self._addresses: dict[int, Any] = {}
        self._paused_until = 0.0

    @property
    def is_paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def open(self, listeners: Sequence[socket.socket]) -> None:
        """Remember the listeners' addresses, which cost a system call each."""
        self._addresses = {listener.fileno(): listener.getsockname() for listener in listeners}

    def resume(self, listeners: Sequence[socket.socket]) -> None:
        for listener in listeners:
            listener.setblocking(False)
            self._loop.listen(listener, self)

    def stop(self, listeners: Sequence[socket.socket]) -> None:
        """Leave new connections to the other workers, or in the kernel's queue."""
        for listener in listeners:
            self._loop.unlisten(listener)

    def accept_batch(self, listener: socket.socket) -> None:
        """Accept connections of a listener that was readable. Other workers share it and may have been faster."""
        for accepted in range(_MAX_ACCEPTED):
            try:
                if not self._accept(listener):
                    return
            except OSError as error:
                if error.errno not in OUT_OF_DESCRIPTORS:
                    raise
                # accept() fails for want of a descriptor even if no client waits.
                if not accepted and _has_waiting_client(listener):
                    self._free_descriptors()
                return

    def close(self, listeners: Sequence[socket.socket]) -> None:
        """Accept what the kernel has queued, then close, so that the kernel refuses new clients at once.

        Otherwise they would wait for a process that never accepts.
        """
        for listener in listeners:
            with suppress(OSError):
                while self._accept(listener):
                    pass
            listener.close()

    def _accept(self, listener: socket.socket) -> bool:
        """Return whether the listener may have another connection. Raises OSError."""
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return False
        if self.try_admit(client):
            self._loop.add(sock, client, self._addresses[listener.fileno()], is_new=True)
        else:
            sock.close()
        return True

    def _free_descriptors(self) -> None:
        if not self._admission.evict():
            self._paused_until = time.monotonic() + _PAUSE_SECONDS
            self._on_paused()


def _has_waiting_client(listener: socket.socket) -> bool:
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return bool(poll.poll(0))
