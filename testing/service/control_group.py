"""A control group that limits the memory of the processes in it, the page cache included, without swap.

Only root can make one, and not on every machine. Both versions of the kernel's interface work.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from testing.polling import eventually

# In version 2, a group with processes cannot have groups with limits below it, so a new group is at the root.
_VERSION_2 = Path("/sys/fs/cgroup")
_VERSION_1 = _VERSION_2 / "memory"
# Files, and whether they hold the limit; the others hold 0.
_LIMITS_2 = {"memory.max": True, "memory.swap.max": False}
_LIMITS_1 = {"memory.limit_in_bytes": True, "memory.memsw.limit_in_bytes": True}


class ControlGroup(NamedTuple):
    folder: Path

    def entered_by(self, program: str) -> tuple[str, ...]:
        """The first words of a command that runs the program in this group."""
        procs = str(self.folder / "cgroup.procs")
        return ("sh", "-c", 'echo $$ > "$0" && exec "$@"', procs, program)

    def killed(self) -> int:
        """The number of processes that the kernel has killed because the group had no memory left."""
        for name in ("memory.events", "memory.oom_control"):
            with suppress(OSError):
                match = re.search(r"^oom_kill (\d+)$", (self.folder / name).read_text(), re.MULTILINE)
                if match:
                    return int(match[1])
        raise RuntimeError(f"{self.folder} does not count killed processes.")


@contextmanager
def memory_limited(mib: int) -> Iterator[ControlGroup | None]:
    """None if this machine lets this process make no such group. Its end kills the processes that still run in it."""
    group = _made(mib)
    try:
        yield group
    finally:
        if group is not None:
            eventually(lambda: _removed(group.folder))


def _made(mib: int) -> ControlGroup | None:
    for parent, limits in ((_VERSION_2, _LIMITS_2), (_own_folder(), _LIMITS_1)):
        with suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="shortener-", dir=parent))
            group = ControlGroup(folder)
            try:
                for name, is_size in limits.items():
                    # Files that the kernel did not make are no limits.
                    with (folder / name).open("r+") as file:
                        file.write(str(mib * 1024 * 1024 if is_size else 0))
                group.killed()
            except (OSError, RuntimeError):
                folder.rmdir()
            else:
                return group
    return None


def _own_folder() -> Path:
    """The folder of this process in version 1, so that the limits above it remain in force."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    paths = [line.split(":", 2)[2] for line in lines if line.split(":")[1] == "memory"]
    return _VERSION_1 / (paths[0] if paths else "").lstrip("/")


def _removed(folder: Path) -> bool:
    """The kernel refuses while processes of the group are still ending."""
    with suppress(ProcessLookupError, FileNotFoundError):
        for pid in (folder / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
    try:
        folder.rmdir()
    except OSError:
        return False
    return True
