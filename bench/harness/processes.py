"""Processor time and CPU affinity of processes, and servers that run for the time of a measurement."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from testing.polling import eventually
from testing.service import processes

_TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    return [pid, *processes.descendants(pid)]


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of those processes that are still alive."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def tree_seconds(root: int) -> float:
    """User and system time of a process and of all below it, including those that have ended."""
    ticks = 0
    for pid in tree(root):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def pin(pids: Iterable[int], cores: Iterable[int]) -> None:
    """Pin all threads of the processes; threads and processes that they start later inherit the affinity."""
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), set(cores))


@contextmanager
def serving(process: subprocess.Popen[bytes], port: int) -> Iterator[None]:
    """Wait until the process listens, and terminate it at the end. Raises RuntimeError if it exits first."""
    try:
        eventually(lambda: _listens(process, port))
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"{process.args} exited with status {process.returncode}.")
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
