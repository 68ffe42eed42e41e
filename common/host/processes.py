"""The names of forked processes in lists of processes (ps, /proc), and their priority."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_STAT = Path("/proc/self/stat")
# Fields of that file, counted from the one after the process name: where the command line begins and ends.
_ARG_START, _ARG_END = 45, 46


def rename(name: str) -> None:
    """Replace the command line of this fork, which is that of its parent, by ``shortener NAME``.

    The new one has at most the length of the former, and is cut off there. Does nothing where there is no /proc.
    """
    try:
        fields = _STAT.read_text(errors="replace").rpartition(")")[2].split()
        start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    except (OSError, IndexError):
        return
    size = end - start
    if start and size > 1:
        # The last byte must be zero: otherwise the kernel takes the environment for a part of the command line.
        words = f"shortener\0{name}".encode()[: size - 1]
        ctypes.memmove(start, words.ljust(size, b"\0"), size)


def lower_priority(niceness: int) -> None:
    """Move this process and its future children to a separate session with this nice value.

    Linux first divides CPU time between sessions (autogroups: sched(7)). A process's nice value only matters within
    its session, so set the session's nice value too.
    """
    with suppress(PermissionError):  # the process already leads a session
        os.setsid()
    os.nice(niceness)
    with suppress(OSError):  # autogroups are unavailable
        Path("/proc/self/autogroup").write_text(str(niceness))
