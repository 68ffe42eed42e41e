"""The processes of this machine, from /proc. Zombies count as dead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
DEAD = ("Z", "X")
# Its place among the fields of `_stat`.
_START_TIME = 19
# Of a connection in the backlog or in TIME_WAIT.
_NO_INODE = "0"


def existing() -> Iterator[int]:
    """All processes, including zombies, which have neither a command line nor an environment."""
    return (int(name) for name in os.listdir(PROC) if name.isdecimal())  # noqa: PTH208 # faster, and called often


def is_alive(pid: int) -> bool:
    return (_stat(pid) or ["X"])[0] not in DEAD


def started_at(pid: int) -> str:
    """When the process started, in ticks since the machine did: another process can get the number of an ended one.

    Empty if there is no such process.
    """
    fields = _stat(pid)
    return fields[_START_TIME] if fields else ""


def is_stopped(pid: int) -> bool:
    return _stat(pid)[:1] == ["T"]


def children(parent: int, *words: str) -> list[int]:
    """The living children of a process whose command line contains all these words."""
    required_words = {word.encode() for word in words}
    return [pid for pid in _children(parent) if required_words <= set(command_line(pid))]


def descendants(pid: int) -> list[int]:
    """The living processes below this one; each comes before its own children."""
    family = [pid]
    for process in family:
        family += _children(process)
    return family[1:]


def command_line(pid: int) -> list[bytes]:
    return _words(pid, "cmdline")


def environment(pid: int) -> list[bytes]:
    """Empty for a process whose environment this account may not read."""
    return _words(pid, "environ")


def holder_of_connection(pids: list[int], server_port: int, client_port: int) -> int | None:
    """The process among ``pids`` that has accepted the connection between these two loopback ports."""
    inode = accepted_socket(server_port, client_port)
    return None if inode is None else next((pid for pid in pids if holds_socket(pid, inode)), None)


def accepted_socket(server_port: int, client_port: int) -> str | None:
    """The inode of the server's end of this connection, or None until a process has accepted it.

    It stays the same when one process passes the connection to another.
    """
    inode = _socket(server_port, client_port)
    return None if inode == _NO_INODE else inode


def holds_socket(pid: int, inode: str) -> bool:
    return f"socket:[{inode}]" in _open_files(pid)


def sockets(pid: int) -> set[str]:
    return {file for file in _open_files(pid) if file.startswith("socket:")}


def listening(pids: list[int], port: int) -> list[int]:
    """The processes among ``pids`` that accept connections to this loopback port."""
    inode = listening_socket(port)
    return [] if inode is None else [pid for pid in pids if holds_socket(pid, inode)]


def listening_socket(port: int) -> str | None:
    """The inode of the socket that listens on this loopback port."""
    return _socket(port, 0)


def _socket(local_port: int, remote_port: int) -> str | None:
    # The file has thousands of lines on a machine that runs tests. Six fields precede the inode.
    pattern = rf":{local_port:04X} [0-9A-F]+:{remote_port:04X}(?: +\S+){{6}} +(\d+)"
    row = re.search(pattern, (PROC / "net/tcp").read_text())
    return row and row[1]


def _children(parent: int) -> list[int]:
    """The living children. The kernel lists those of each thread, which is faster than reading every process."""
    pids: list[int] = []
    with suppress(OSError):
        for thread in (PROC / str(parent) / "task").iterdir():
            with suppress(OSError):
                pids += map(int, (thread / "children").read_text().split())
    return [pid for pid in pids if is_alive(pid)]


def _open_files(pid: int) -> set[str]:
    targets = set()
    with suppress(OSError):
        for entry in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                targets.add(str(entry.readlink()))
    return targets


def _stat(pid: int) -> list[str]:
    """The fields after the process name, starting with state and parent. The name may contain any character."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _words(pid: int, name: str) -> list[bytes]:
    try:
        return (PROC / str(pid) / name).read_bytes().split(b"\0")
    except OSError:
        return []
