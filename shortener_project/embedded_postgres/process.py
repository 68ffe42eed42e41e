"""Which processes are alive, and which of them are servers of our data folder."""

import os
import socket
from pathlib import Path

PROC = Path("/proc")
# The line of postmaster.pid, counted from 0, where the postmaster writes how far it has come.
STATUS_LINE = 7


def postmaster(data: Path, socket_path: Path) -> int | None:
    """The pid of the live postmaster that `postmaster.pid` names, or None.

    A zombie is dead, and so is a pid that meanwhile belongs to another program or to another cluster.
    """
    try:
        pid = int(_pid_file(data)[0])
    except (IndexError, ValueError):
        return None
    return pid if is_postmaster(pid, data, socket_path) else None


def is_postmaster(pid: int, data: Path, socket_path: Path) -> bool:
    """Whether this process is alive and serves this data folder."""
    if _has_proc():
        # The children of a postmaster have a title in place of its command line.
        return _is_postgres(pid) and _data_argument(pid) == str(data)
    return accepts_connections(socket_path)


def is_ready(data: Path) -> bool:
    """Whether the postmaster has finished starting (or recovering)."""
    return [line.strip() for line in _pid_file(data)][STATUS_LINE:] == ["ready"]


def leftovers(data: Path, cluster_name: str, uid: int) -> list[int]:
    """Server processes of this data folder, whichever `postmaster.pid` names, if any.

    They are the children of a killed postmaster, or the servers of a folder that was deleted beneath them:
    the first hold the shared memory, the second would unlink the socket of their successor when they notice.
    """
    if not _has_proc():
        return []
    title = f"postgres: {cluster_name}: "
    return [
        pid
        for pid in (int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())
        if _is_postgres(pid)
        and _owner(pid) == uid
        and (_data_argument(pid) == str(data) or _command_line(pid)[0].startswith(title))
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
    # This is readable for all. The working directory would tell the same, but in a container without
    # CAP_SYS_PTRACE even root may not look at that of another account's process.
    try:
        return [os.fsdecode(word) for word in (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")]
    except OSError:
        return [""]


def _owner(pid: int) -> int | None:
    try:
        return (PROC / str(pid)).stat().st_uid
    except OSError:
        return None
