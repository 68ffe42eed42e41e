"""What processes take: processor time, memory, and the cores that they may run on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tests.service import processes

_TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    return [pid, *processes.descendants(pid)]


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system, of the living alone."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def pss_mib(pid: int) -> float:
    """What it holds, what it shares divided by those who share it."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    [kib] = [line.split()[1] for line in lines if line.startswith("Pss:")]
    return int(kib) / 1024


def pin(pids: Iterable[int], cores: Iterable[int]) -> None:
    """All their threads; what they start later is where they are."""
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), set(cores))
