"""Temporary files in memory: the tests make dozens of database clusters, which take twice the time on a disk."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 # the folder in it has a random name and belongs to this account
# Workers of pytest-xdist use one database server and several installations at once, of about 60 MB each.
_ENOUGH_BYTES = 8 << 30
_PREFIX = "tests-"


def memory_folder() -> Path | None:
    """A new folder, deleted when this process exits; None if the machine has too little memory, or TMPDIR is set."""
    if "TMPDIR" in os.environ:
        return None
    try:
        status = os.statvfs(_SHARED_MEMORY)
    except OSError:
        return None
    # The tests copy and run programs.
    if status.f_flag & os.ST_NOEXEC or status.f_bavail * status.f_frsize < _ENOUGH_BYTES:
        return None
    _delete_folders_of_dead_processes()
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_SHARED_MEMORY))
    # A server that drops privileges must reach its data.
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _delete_folders_of_dead_processes() -> None:
    for folder in _SHARED_MEMORY.glob(f"{_PREFIX}[0-9]*-*"):
        try:
            os.kill(int(folder.name.split("-")[1]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except PermissionError:
            # It runs, for another account.
            pass
