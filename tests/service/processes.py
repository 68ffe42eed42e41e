"""The processes of this machine, as /proc tells them; zombies are dead."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
DEAD = ("Z", "X")


def living() -> Iterator[int]:
    return (pid for pid in _all() if is_alive(pid))


def is_alive(pid: int) -> bool:
    return (_stat(pid) or ["X"])[0] not in DEAD


def is_stopped(pid: int) -> bool:
    return _stat(pid)[:1] == ["T"]


def children(parent: int, *words: str) -> list[int]:
    """The living children of a process whose command line has all these words."""
    wanted = {word.encode() for word in words}
    found = []
    for pid in _all():
        state, its_parent = _stat(pid)[:2] or ("X", "")
        if its_parent == str(parent) and state not in DEAD and wanted <= set(command_line(pid)):
            found.append(pid)
    return found


def descendants(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *descendants(child))]


def command_line(pid: int) -> list[bytes]:
    return _words(pid, "cmdline")


def environment(pid: int) -> list[bytes]:
    """Empty for a process of another account, where this one may not look."""
    return _words(pid, "environ")


def holder_of_connection(pids: list[int], server_port: int, client_port: int) -> int | None:
    """Which of these processes has accepted the connection between these two ports of the loopback address."""
    return next(iter(_holders(pids, server_port, client_port)), None)


def listening(pids: list[int], port: int) -> list[int]:
    """Those of these processes that accept connections to this port of the loopback address."""
    return _holders(pids, port, 0)


def _holders(pids: list[int], local_port: int, remote_port: int) -> list[int]:
    for line in (PROC / "net/tcp").read_text().splitlines()[1:]:
        local, remote, *_, inode = line.split()[1:10]
        if (_port(local), _port(remote)) == (local_port, remote_port):
            return [pid for pid in pids if f"socket:[{inode}]" in _open_files(pid)]
    return []


def _all() -> Iterator[int]:
    return (int(name) for name in os.listdir(PROC) if name.isdecimal())  # noqa: PTH208 # asked for very often


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _open_files(pid: int) -> set[str]:
    found = set()
    with suppress(OSError):
        for entry in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                found.add(str(entry.readlink()))
    return found


def _stat(pid: int) -> list[str]:
    """State, parent and so on: what follows the name, which may itself hold anything."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _words(pid: int, name: str) -> list[bytes]:
    try:
        return (PROC / str(pid) / name).read_bytes().split(b"\0")
    except OSError:
        return []
