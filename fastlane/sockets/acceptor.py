"""Accepts client connections, also while the process or the host is out of file descriptors."""

from __future__ import annotations

import errno
import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from fastlane.sockets.connections.admission import Admission
from fastlane.sockets.event_loop import EventLoop

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
