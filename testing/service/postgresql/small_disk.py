"""A database server on a small disk of its own, which can be filled."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from local_postgres import EmbeddedPostgres
from testing.service.hosts import make_folder

_SIZE = "160m"
_CHUNK = 1024 * 1024


class SmallDisk:
    """``url`` is the address of the server."""

    def __init__(self, server: EmbeddedPostgres, folder: Path) -> None:
        self.url = server.url
        self._filler = folder / "filler"

    @contextmanager
    def full(self) -> Iterator[None]:
        """Inside, no file can grow."""
        with self._filler.open("wb", buffering=0) as filler, suppress(OSError):
            for size in (_CHUNK, 4096, 1):
                with suppress(OSError):
                    while filler.write(b"x" * size):
                        pass
        try:
            yield
        finally:
            self._filler.unlink()


@contextmanager
def server_on_small_disk() -> Iterator[SmallDisk | None]:
    """Yields None if this account may not mount one."""
    folder = make_folder()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=755", "database", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        folder.rmdir()
        yield None
        return
    try:
        server = EmbeddedPostgres(folder, options={"fsync": "off", "shared_buffers": "16MB"})
        with server.acquire():
            yield SmallDisk(server, folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        shutil.rmtree(folder)
