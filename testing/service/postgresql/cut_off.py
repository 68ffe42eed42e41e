"""A TCP proxy to the database that can drop all traffic without an error, like a network that loses packets."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast
from urllib.parse import unquote, urlsplit

_CHUNK = 65_536


class DroppingProxy:
    """``url`` is the database's URL through the proxy."""

    def __init__(self, url: str, listener: socket.socket) -> None:
        address = urlsplit(url)
        account, _, host = address.netloc.rpartition("@")
        self._server = f"{unquote(host.rpartition(':')[0])}/.s.PGSQL.5432"
        self._listener = listener
        self._passes = threading.Event()
        self._passes.set()
        port = listener.getsockname()[1]
        self.url = address._replace(netloc=f"{account}@127.0.0.1:{port}").geturl()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Inside, drops all data. Connections with dropped data never recover."""
        self._passes.clear()
        try:
            yield
        finally:
            self._passes.set()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        # select() does not support the descriptors above 1023 that a long test run uses.
        with (
            client,
            socket.socket(socket.AF_UNIX) as server,
            selectors.DefaultSelector() as readable,
            suppress(OSError),
        ):
            server.connect(self._server)
            for source, target in ((client, server), (server, client)):
                readable.register(source, selectors.EVENT_READ, target)
            while True:
                for key, _ in readable.select():
                    source, target = cast(socket.socket, key.fileobj), key.data
                    data = source.recv(_CHUNK)
                    if not self._passes.is_set():
                        # Keep the connection open: the peers must detect the outage by themselves.
                        self._passes.wait()
                        return
                    if not data:
                        return
                    target.sendall(data)


@contextmanager
def dropping_proxy(url: str) -> Iterator[DroppingProxy]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = DroppingProxy(url, listener)
        thread = threading.Thread(target=proxy.serve)
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
