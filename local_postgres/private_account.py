"""The account of a server that root starts: a user id that nothing else on the machine uses.

The id needs no entry in /etc/passwd: the owner of the data folder records it.
"""

import grp
import os
import pwd
import secrets
from collections.abc import Iterator
from pathlib import Path

from .errors import EmbeddedPostgresError

# Above the ids that distributions, systemd and container engines allocate, and below 2 ** 31. If this user namespace
# does not map them, use the upper end of the range for ordinary users.
_HIGH_IDS = range(2_000_000_000, 2_147_000_000)
_LOW_IDS = range(58_000, 60_000)
_MAP = Path("/proc/self/uid_map")
_DELEGATED = (Path("/etc/subuid"), Path("/etc/subgid"))
_TRIES = 1_000


def free_id() -> int:
    """An id that no user, group or running process of this machine uses."""
    ids = _HIGH_IDS if _has(_HIGH_IDS) else _LOW_IDS
    used = set(_ids_of_processes()) | _ids_of_system()
    delegated = list(_delegated())
    for _ in range(_TRIES):
        number = ids.start + secrets.randbelow(len(ids))
        if number not in used and not any(number in id_range for id_range in delegated):
            return number
    raise EmbeddedPostgresError("No free user id is available for PostgreSQL: set DATABASE_URL.")


def may_be_private(uid: int) -> bool:
    """Whether `free_id` may have returned this id: no user of this machine can run processes with it."""
    ids = _HIGH_IDS if _has(_HIGH_IDS) else _LOW_IDS
    return (
        uid in ids and uid not in _ids_of_system() and not any(uid in id_range for id_range in _delegated())
    )


def change_owner(data: Path, *, former: int, uid: int, gid: int) -> None:
    """Change the owner of all files of `former` in a data folder. No server may run on it.

    Changes PG_VERSION last: while its owner differs from the folder's, the change is incomplete and runs again. Does
    not follow links in the folder, because `former` may have created them.
    """
    os.chown(data, uid, gid, follow_symlinks=False)
    version = data / "PG_VERSION"
    for folder, folders, files, descriptor in os.fwalk(data, follow_symlinks=False):
        for name in (*folders, *files):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if status.st_uid == former and Path(folder, name) != version:
                os.chown(name, uid, gid, dir_fd=descriptor, follow_symlinks=False)
    os.chown(version, uid, gid, follow_symlinks=False)


def _has(ids: range) -> bool:
    """Whether this user namespace maps all of these ids."""
    try:
        lines = _MAP.read_text().splitlines()
    except OSError:
        return False
    maps = [[int(word) for word in line.split()] for line in lines]
    return any(first <= ids.start and ids.stop <= first + count for first, _, count in maps)


def _ids_of_processes() -> Iterator[int]:
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = status.read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith(("Uid:", "Gid:", "Groups:")):
                yield from map(int, line.split()[1:])


def _ids_of_system() -> set[int]:
    users = pwd.getpwall()
    groups = {group.gr_gid for group in grp.getgrall()}
    return groups | {user.pw_uid for user in users} | {user.pw_gid for user in users}


def _delegated() -> Iterator[range]:
    """Id ranges delegated to the user namespaces of this machine's users."""
    for path in _DELEGATED:
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            words = line.split(":")
            if len(words) == 3 and words[1].isdecimal() and words[2].isdecimal():
                yield range(int(words[1]), int(words[1]) + int(words[2]))
