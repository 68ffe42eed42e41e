"""The account that runs the server, and the processes that run as it.

Started as root, the server runs as a random user id that no other process has, recorded as the owner of the data
folder: any other process of a shared account, such as `nobody`, could read the data and become the superuser.
"""

import grp
import os
import pwd
import secrets
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedPostgresError


@dataclass(frozen=True)
class Account:
    """The account that owns and runs the cluster. `switch`: this process is root and must drop privileges."""

    uid: int
    gid: int
    switch: bool

    @property
    def name(self) -> str:
        return _name(self.uid)

    def may_own(self, uid: int) -> bool:
        """Whether processes with this user id may belong to this account or to an earlier one of the same cluster.

        A deleted data folder takes the id of its private account with it, but its server may still run.
        """
        return uid == self.uid or (self.switch and may_be_private(uid))

    def run(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command as this account, in a session that the terminal's Ctrl-C does not reach.

        The environment is minimal: it contains neither the application's secrets nor the operator's PGPORT or PGDATA,
        which would affect the server.
        """
        return subprocess.run(
            [str(word) for word in command],
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=[] if self.switch else None,
            cwd=cwd,
            env=minimal_environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            start_new_session=True,
            check=False,
        )

    def chown(self, path: Path | int) -> None:
        """Make this account the owner of a file or folder that this process has just created."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        if not self.switch:
            return True
        # Let the kernel decide, as that account: parents, access lists and mounts all matter.
        check = self.run(["/bin/sh", "-c", 'test -x "$1"', "sh", folder], cwd=Path("/"))
        return check.returncode == 0


def minimal_environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def server_account(data: Path) -> Account:
    """The owner of this data folder. Without a data folder: the current account or, as root, a private account."""
    current = os.geteuid()
    owner = data.stat().st_uid if data.exists() else None
    if current != 0:
        if owner not in (None, current):
            raise EmbeddedPostgresError(
                f"{data} belongs to the account {_name(owner)}: run as that account or as root, "
                "or choose another VAR_DIR."
            )
        return Account(current, os.getegid(), switch=False)
    if owner is not None and any(data.iterdir()):
        if owner == 0:
            raise EmbeddedPostgresError(
                f"{data} belongs to root, and PostgreSQL does not run as root: "
                f"give it to an unprivileged account (chown -R nobody {data})."
            )
        return Account(owner, data.stat().st_gid, switch=True)
    return _private_account()


def private_owner(data: Path, account: Account) -> Account:
    """The account to start the server as. Data that belong to `nobody` move to a private account.

    Any process of `nobody` could read such data and become the database superuser. Call it while the server is down.
    """
    version = data / "PG_VERSION"
    if not account.switch or not version.exists():
        return account
    if account.uid == _nobody().pw_uid and data.parent.stat().st_uid == 0:
        former, account = account.uid, _private_account()
    else:
        former = version.stat().st_uid
    if former != account.uid:
        change_owner(data, former=former, uid=account.uid, gid=account.gid)
    return account


def initdb_account(account: Account) -> Account:
    """The account that runs initdb. Unlike the server, initdb requires a user with a name.

    It has the group of `account`, so that other processes of the same user can neither enter a folder of that group
    nor trace initdb.
    """
    try:
        pwd.getpwuid(account.uid)
    except KeyError:
        return Account(_nobody().pw_uid, account.gid, switch=True)
    return account


def _private_account() -> Account:
    number = free_id()
    return Account(number, number, switch=True)


def _nobody() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root and there is no account `nobody`: "
            "run as an ordinary user, or set DATABASE_URL."
        ) from None


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return str(uid)


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
