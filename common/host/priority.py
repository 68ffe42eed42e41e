"""Lower priority for background processes: redirects come first when the CPU is saturated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


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
