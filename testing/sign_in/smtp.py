"""A mail server on loopback that stores the mails it receives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from queue import Queue
from threading import Thread
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope

from testing.polling import DEADLINE


class MailServer:
    def __init__(self, port: int, received: Queue[EmailMessage]) -> None:
        self.url = f"smtp://127.0.0.1:{port}"
        self._received = received

    def next_mail(self) -> EmailMessage:
        """Waits for it."""
        return self._received.get(timeout=DEADLINE)


class _Handler:
    def __init__(self, received: Queue[EmailMessage]) -> None:
        self._received = received

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802 # a name of aiosmtpd
        assert isinstance(envelope.content, bytes)
        self._received.put(message_from_bytes(envelope.content, policy=default))
        return "250 OK"


async def _end(server: asyncio.Server) -> None:
    server.close()
    connections = asyncio.all_tasks() - {asyncio.current_task()}
    for connection in connections:
        connection.cancel()
    await asyncio.gather(*connections, return_exceptions=True)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    received: Queue[EmailMessage] = Queue()
    loop = asyncio.new_event_loop()
    handler = _Handler(received)
    starting = loop.create_server(lambda: SMTP(handler, loop=loop), "127.0.0.1", 0)
    server = loop.run_until_complete(starting)
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield MailServer(server.sockets[0].getsockname()[1], received)
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(DEADLINE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
