"""The system account of the server: PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedPostgresError
from .private_account import change_owner, free_id, may_be_private


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
