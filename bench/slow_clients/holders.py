"""Keeps slow clients of one kind connected: python -m bench.slow_clients.holders PORT NUMBER KIND CODE KEY [AUTHORITY]

Each kind has a separate process, because the system limits the open files of a process. Replaces connections that the
service closes. Spreads all connections and the dripped bytes evenly over time: bursts would be a different attack.
Prints "ready" when all clients are connected, and runs until its standard input ends. With AUTHORITY, the file of a
certificate, the clients use TLS.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import sys
import time
from contextlib import suppress

from shortener_project.running.listeners import raise_limit
from testing.adversary.slow import KINDS

HOST = "sho.test"
TICK_SECONDS = 0.02
# Each client sends a byte once in this many ticks, and is replaced at most once. The shortest timeout is 10 s.
PERIOD_TICKS = 500


class Holder:
    def __init__(self, port: int, kind: str, code: str, key: str, authority: str = "") -> None:
        self._port = port
        self._kind = KINDS[kind]
        self._initial = self._kind.initial.replace(b"%(code)s", code.encode()).replace(
            b"%(key)s", key.encode()
        )
        self._context = ssl.create_default_context(cafile=authority) if authority else None
        # A separate source address per kind: one address has too few ports for all of them.
        self._source = f"127.0.1.{1 + list(KINDS).index(kind)}"
        self._clients: dict[int, socket.socket] = {}
        self._closed = select.epoll()
        self._ticks = 0

    def fill(self, number: int, most: int) -> None:
        """Connect clients up to this number, at most ``most`` of them."""
        for _ in range(min(most, number - len(self._clients))):
            with suppress(OSError):
                self._connect()

    @property
    def number(self) -> int:
        return len(self._clients)

    def drip(self) -> None:
        """Send a byte from one of PERIOD_TICKS parts of the clients, each part in its turn."""
        self._ticks += 1
        if drips := self._kind.trickle:
            turn, part = divmod(self._ticks, PERIOD_TICKS)
            byte = drips[turn % len(drips) :][:1]
            for client in list(self._clients.values())[part::PERIOD_TICKS]:
                with suppress(OSError):
                    client.send(byte)

    def drop_closed(self) -> None:
        for descriptor, _ in self._closed.poll(0, 10_000):
            self._closed.unregister(descriptor)
            self._clients.pop(descriptor).close()

    def _connect(self) -> None:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(10)
        try:
            client.bind((self._source, 0))
            client.connect(("127.0.0.1", self._port))
            if self._context is not None:
                client = self._context.wrap_socket(client, server_hostname=HOST)
            client.sendall(self._initial)
        except OSError:
            client.close()
            raise
        client.setblocking(False)
        self._clients[client.fileno()] = client
        self._closed.register(client.fileno(), select.EPOLLRDHUP)


def main() -> None:
    port, number, kind, code, key, *authority = sys.argv[1:]
    raise_limit()
    # Slow clients of a real attack do not use the service's processors.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    holder = Holder(int(port), kind, code, key, *authority)
    pace = 1 + int(number) // PERIOD_TICKS
    is_ready, due = False, time.monotonic()
    while not select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
        due = max(due, time.monotonic() - TICK_SECONDS) + TICK_SECONDS
        holder.drop_closed()
        # At first twice as many, as the service closes some meanwhile.
        holder.fill(int(number), pace if is_ready else 2 * pace)
        holder.drip()
        if not is_ready and holder.number == int(number):
            is_ready = True
            print("ready", flush=True)


if __name__ == "__main__":
    main()
