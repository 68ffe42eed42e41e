"""Connections that this process abandoned after a timeout while the server may still be working on them.

A commit that waits for a lost standby occupies its server process until the standby returns. Without a limit, each
request would abandon one more connection until the server reaches its connection limit.
"""

from __future__ import annotations

import os
import select
import socket
import threading

# Per process. At the limit, new connections are refused until the server finishes with earlier ones.
MAX_ABANDONED = 8

# Duplicates of the connections with which the server has not finished.
sockets: list[socket.socket] = []
_lock = threading.Lock()


def track(descriptor: int) -> None:
    """Track a connection that is about to be closed. A duplicate stays open until the server responds or closes it."""
    copy = socket.socket(fileno=os.dup(descriptor))
    with _lock:
        sockets.append(copy)


def limit_reached() -> bool:
    """Whether the limit is reached, after dropping connections that the server has finished with."""
    with _lock:
        if sockets:
            poll = select.poll()
            for sock in sockets:
                poll.register(sock, select.POLLIN)
            finished = {descriptor for descriptor, _ in poll.poll(0)}
            for sock in [sock for sock in sockets if sock.fileno() in finished]:
                sockets.remove(sock)
                sock.close()
        return len(sockets) >= MAX_ABANDONED
