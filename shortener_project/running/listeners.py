"""The sockets on which the service listens. They stay open while gunicorn restarts, so that clients wait for it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from shortener_project.running.unix_sockets import bind_unix, refuse_live_socket

BACKLOG = 2048


class Listeners:
    """The public and the internal socket. Every method raises CommandError."""

    def __init__(self) -> None:
        """Binds both, so that a port conflict fails at once. Only the internal one listens: it needs no database."""
        self._public = _bind_public()
        self._internal = _bind_internal()

    def listen(self) -> None:
        """Accept public connections. They wait until a worker accepts them."""
        try:
            self._public.listen(BACKLOG)
        except OSError as error:
            raise _cannot_listen(settings.LISTEN, error) from None

    def pass_to_gunicorn(self) -> None:
        """In a fork that becomes gunicorn: leave both sockets to it, and name them as its configuration expects."""
        os.environ["SERVE_BIND"] = f"fd://{self._public.detach()},fd://{self._internal.detach()}"

    def drop(self) -> None:
        """In any other fork: close its copies. Otherwise clients could connect after the web server has stopped."""
        # Unlike `close`, this keeps the file of a Unix socket.
        for listener in (self._public, self._internal):
            os.close(listener.detach())

    def close(self) -> None:
        """From now on clients are refused instead of waiting, unless the web server still accepts them."""
        self._public.close()
        self._internal.close()


def _bind_public() -> socket.socket:
    try:
        if settings.HOST.startswith("/"):
            refuse_live_socket(settings.HOST)
            return bind_unix(Path(settings.HOST))
        return _bind_tcp(settings.HOST, settings.PORT)
    except OSError as error:
        raise _cannot_listen(settings.LISTEN, error) from None


def _bind_internal() -> socket.socket:
    try:
        if settings.INTERNAL_PORT:
            listener = _bind_tcp(settings.INTERNAL_HOST, settings.INTERNAL_PORT)
        else:
            listener = bind_unix(Path(settings.INTERNAL_LISTEN))
        listener.listen()
    except OSError as error:
        raise _cannot_listen(settings.INTERNAL_LISTEN, error) from None
    return listener


def _bind_tcp(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


def _cannot_listen(address: str, error: OSError) -> CommandError:
    return CommandError(f"Cannot listen on {address}: {error.strerror}.")
