"""The memory that this machine or its control group (a container, a systemd unit) allows, in MB."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MB = 1024**2
_CGROUP = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")


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
