"""Who stands back when there is more to do than the processors can: whoever follows a link goes first."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def stand_back(niceness: int) -> None:
    """This process, and what it starts from now on, in a session of their own.

    Where Linux shares processors out between sessions first (autogroups: sched(7)), a process that is nice is so to
    those of its session alone; the session can be nice, too.
    """
    with suppress(PermissionError):  # it leads one already
        os.setsid()
    os.nice(niceness)
    with suppress(OSError):  # a system or container without them
        Path("/proc/self/autogroup").write_text(str(niceness))
