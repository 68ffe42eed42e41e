"""The sockets on which the service listens, and the limit of open files, which decides how many connections fit.

The sockets stay open while gunicorn restarts, so that clients wait for it.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
import stat
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError


class UnixListener(socket.socket):
    """Deletes its file when it is closed, unless another service has replaced the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(socket.AF_UNIX, socket.SOCK_STREAM)
        self._path = path
        self._file: os.stat_result | None = None

    def bind_privately(self, *, umask: int) -> None:
        """The supervisor has no other thread yet that could create a file with this umask."""
        previous_umask = os.umask(umask)
        try:
            self.bind(str(self._path))
        finally:
            os.umask(previous_umask)
        self._file = self._path.lstat()

    def close(self) -> None:
        file, self._file = self._file, None
        with suppress(FileNotFoundError):
            # The open socket keeps its inode, so no other file has the same number yet.
            if file is not None and os.path.samestat(file, self._path.lstat()):
                self._path.unlink()
        super().close()


def bind_unix(path: Path) -> UnixListener:
    """Replaces the stale socket of an earlier run. Raises FileExistsError if the path is anything but a socket.

    Only this account can use a socket under VAR_DIR. Elsewhere its group can, too: that of a proxy, for example.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise FileExistsError(errno.EEXIST, "The file exists and is not a socket")
        path.unlink()
    listener = UnixListener(path)
    listener.bind_privately(umask=0o177 if path.is_relative_to(settings.VAR_DIR) else 0o117)
    return listener


def refuse_live_socket(path: str) -> None:
    """Raise OSError if another service listens there: its socket must not be replaced."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        # A full backlog would block the connection. It gives EAGAIN instead.
        client.setblocking(False)
        code = client.connect_ex(path)
    if code in (0, errno.EAGAIN):
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    if code not in (errno.ECONNREFUSED, errno.ENOENT):
        raise OSError(code, os.strerror(code))


# Descriptors of a web worker besides client connections: listeners, database, journal, metrics, files being sent.
RESERVED = 512
CONNECTIONS = 20_000
MINIMUM = 1024


class TooFewOpenFiles(Exception):
    """The message tells the operator how to raise the limit."""


def raise_limit() -> int:
    """Raise the soft limit of this process and its children to the hard limit, and return it.

    Raises TooFewOpenFiles if the limit is too low for the service.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # the kernel's own limit (fs.nr_open) is lower
            soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = CONNECTIONS + RESERVED if soft == resource.RLIM_INFINITY else soft
    if limit < MINIMUM:
        raise TooFewOpenFiles(
            f"The limit of open files is {limit}, and the service needs at least {MINIMUM}. "
            "Raise it with `ulimit -n 65536`, or LimitNOFILE=65536 in a systemd unit."
        )
    return limit


def connections_within(limit: int) -> int:
    """How many connections a web worker can keep open within this limit of open files."""
    return min(CONNECTIONS, limit - RESERVED)


def shortage(limit: int) -> str:
    """A warning for the operator; empty if the limit is high enough."""
    connections = connections_within(limit)
    if connections >= CONNECTIONS:
        return ""
    return (
        f"The limit of open files ({limit:,}) lets each web worker keep {connections:,} connections instead of "
        f"{CONNECTIONS:,}. Raise it to {CONNECTIONS + RESERVED:,} or more."
    )


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
        """Leave both sockets to gunicorn, which this fork becomes, and name them as its configuration expects."""
        os.environ["SERVE_BIND"] = f"fd://{self._public.detach()},fd://{self._internal.detach()}"

    def drop(self) -> None:
        """Close the copies of any other fork. Otherwise clients could connect after the web server has stopped."""
        # Unlike `close`, this keeps the file of a Unix socket.
        for listener in (self._public, self._internal):
            os.close(listener.detach())

    def close(self) -> None:
        """Refuse clients from now on instead of letting them wait, unless the web server still accepts them."""
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
