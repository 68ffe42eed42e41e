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
    """``answers`` are the replies to commands that it refuses: ``{"RCPT": "550 unknown"}``."""

    def __init__(self, port: int, handler: _Handler) -> None:
        self.url = f"smtp://127.0.0.1:{port}"
        self.answers = handler.answers
        self._received = handler.received

    def next_mail(self) -> EmailMessage:
        """Waits for it."""
        return self._received.get(timeout=DEADLINE)


class _Handler:
    """The names of its methods are those of aiosmtpd."""

    def __init__(self) -> None:
        self.received: Queue[EmailMessage] = Queue()
        self.answers: dict[str, str] = {}

    async def handle_MAIL(  # noqa: N802
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        return self.answers.get("MAIL", "250 OK")

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(address)
        return self.answers.get("RCPT", "250 OK")

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        if "DATA" not in self.answers:
            self.received.put(message_from_bytes(envelope.content, policy=default))
        return self.answers.get("DATA", "250 OK")


async def _end(server: asyncio.Server) -> None:
    server.close()
    connections = asyncio.all_tasks() - {asyncio.current_task()}
    for connection in connections:
        connection.cancel()
    await asyncio.gather(*connections, return_exceptions=True)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    loop = asyncio.new_event_loop()
    handler = _Handler()
    starting = loop.create_server(lambda: SMTP(handler, loop=loop), "127.0.0.1", 0)
    server = loop.run_until_complete(starting)
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield MailServer(server.sockets[0].getsockname()[1], handler)
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(DEADLINE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
