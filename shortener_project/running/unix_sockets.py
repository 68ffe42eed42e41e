"""Unix sockets on which the service listens."""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from django.conf import settings


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
