"""Detects live server processes of a data folder."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

PROC = Path("/proc")
# The zero-based line of postmaster.pid that contains the postmaster's status.
STATUS_LINE = 7


def postmaster(data: Path, socket_path: Path) -> int | None:
    """The pid in `postmaster.pid` if it belongs to a live postmaster, otherwise None.

    A zombie does not count, nor does a pid that another program or another cluster has reused.
    """
    try:
        pid = int(_pid_file(data)[0])
    except (IndexError, ValueError):
        return None
    return pid if is_postmaster(pid, data, socket_path) else None


def is_postmaster(pid: int, data: Path, socket_path: Path) -> bool:
    """Whether this process is alive and serves this data folder."""
    if _has_proc():
        # The children of a postmaster replace their command line with a title.
        return _is_postgres(pid) and _data_argument(pid) == str(data)
    return accepts_connections(socket_path)


def is_exiting(pid: int) -> bool:
    """Whether the kernel is still ending this server: it frees the command line before the files and shared memory."""
    return _has_proc() and _is_postgres(pid) and _command_line(pid) == [""]


def is_ready(data: Path) -> bool:
    """Whether the postmaster has finished starting (or recovering)."""
    return [line.strip() for line in _pid_file(data)][STATUS_LINE:] == ["ready"]


def leftover_processes(data: Path, cluster_name: str, may_own: Callable[[int], bool]) -> list[int]:
    """Server processes of this data folder, whether or not `postmaster.pid` names them.

    `may_own` decides by user id whether a process may be one: a process of another user can have any command line.

    They are children of a killed postmaster, which hold the shared memory, or servers whose folder was deleted, which
    would unlink the socket of their successor when they notice.
    """
    if not _has_proc():
        return []
    title = f"postgres: {cluster_name}: "
    return [
        pid
        for pid in (int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())
        if _is_postgres(pid)
        and (_data_argument(pid) == str(data) or _command_line(pid)[0].startswith(title))
        and (owner := _owner(pid)) is not None
        and may_own(owner)
    ]


def accepts_connections(socket_path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(socket_path))
        except OSError:
            return False
        return True


def _has_proc() -> bool:
    return (PROC / "self/stat").exists()


def _pid_file(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text(errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_postgres(pid: int) -> bool:
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return False
    # "pid (command) state ...": the command may itself contain spaces and parentheses.
    head, _, tail = text.rpartition(")")
    return head.partition("(")[2] == "postgres" and tail.split()[0] not in ("Z", "X")


def _data_argument(pid: int) -> str | None:
    words = _command_line(pid)
    return words[2] if words[1:2] == ["-D"] and len(words) > 2 else None


def _command_line(pid: int) -> list[str]:
    # Every account can read cmdline. In a container without CAP_SYS_PTRACE, not even root can read the working
    # directory of another account's process.
    try:
        return [os.fsdecode(word) for word in (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")]
    except OSError:
        return [""]


def _owner(pid: int) -> int | None:
    try:
        return (PROC / str(pid)).stat().st_uid
    except OSError:
        return None
