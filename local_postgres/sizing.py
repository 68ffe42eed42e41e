"""The memory that this machine, container or unit has, and the settings of a server that fit it.

docs/deployment.md has the table.
"""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MB = 1024**2
_CGROUP = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")
# From this memory on, the server has PostgreSQL's usual sizes. A machine of 2 GB reports less: about 1,950 MB.
USUAL_MB = 1800
_TWO_GB = 2048


def available_mb(cgroup: Path = _CGROUP, mount: Path = _MOUNT) -> int:
    """The lower of the machine's memory and the limits of this process's control groups."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits(cgroup, mount)]) // MB


def _limits(cgroup: Path, mount: Path) -> Iterator[int]:
    """The limits of the control groups of this process, and of those above them."""
    try:
        lines = cgroup.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            folder, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = mount / controllers, "memory.limit_in_bytes"
        else:
            continue
        path = PurePosixPath(group.lstrip("/"))
        # In a container, the path may be the host's, but the mount shows only the container's own group.
        for below in (path, *path.parents):
            try:
                text = (folder / below / name).read_text().strip()
            except OSError:
                continue
            if text.isdecimal():
                yield int(text)


def settings_for(memory_mb: int) -> dict[str, str]:
    is_usual = memory_mb >= USUAL_MB
    if is_usual:
        memory_mb = max(memory_mb, _TWO_GB)
    return {
        # The operating system caches files, too; more would count against the memory of the service twice. With a
        # million links, lookups and counting take as much processor time as with 128 MB.
        "shared_buffers": f"{_within(16, memory_mb // 16, 64)}MB",
        # Of each sort or hash, several of which may run in each connection.
        "work_mem": f"{_within(1, memory_mb // 512, 4)}MB",
        # Of each vacuum.
        "maintenance_work_mem": f"{_within(8, memory_mb // 32, 64)}MB",
        "autovacuum_max_workers": "3" if is_usual else "1",
        "max_parallel_workers_per_gather": "2" if is_usual else "0",
        # Counting clicks at full speed writes a fifth to a half less to the log, in as much processor time.
        "wal_compression": "pglz",
        # Compiling takes longer than any query of the service, and each connection would load the compiler.
        "jit": "off",
        # The embedded server never subscribes to another one.
        "max_logical_replication_workers": "0",
    }


def _within(lowest: int, value: int, highest: int) -> int:
    return max(lowest, min(value, highest))
