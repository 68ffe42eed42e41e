"""The account that the server runs as: PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedPostgresError


@dataclass(frozen=True)
class Account:
    """Who owns and runs the cluster; `switch` is True when this process is root and has to step down."""

    uid: int
    gid: int
    switch: bool

    @property
    def name(self) -> str:
        return _name(self.uid)

    def run(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command as this account, out of reach of the terminal's Ctrl-C.

        The environment is a minimal one: the application's secrets are no business of the server's account,
        and a stray PGPORT or PGDATA of the operator must not lead the server astray.
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

    def take(self, path: Path | int) -> None:
        """Make this account the owner of a file or folder that we have just made."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        if not self.switch:
            return True
        # Only the kernel, asked as that account, knows of every parent, access list and mount.
        check = self.run(["/bin/sh", "-c", 'test -x "$1"', "sh", folder], cwd=Path("/"))
        return check.returncode == 0


def minimal_environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def server_account(data: Path) -> Account:
    """The owner of this data folder; if there is none yet, ourselves, or `nobody` when we are root."""
    own = os.geteuid()
    owner = data.stat().st_uid if data.exists() else None
    if own != 0:
        if owner not in (None, own):
            raise EmbeddedPostgresError(
                f"{data} belongs to the account {_name(owner)}: run as that account or as root, "
                "or choose another VAR_DIR."
            )
        return Account(own, os.getegid(), switch=False)
    if owner is not None and any(data.iterdir()):
        if owner == 0:
            raise EmbeddedPostgresError(
                f"{data} belongs to root, and PostgreSQL does not run as root: "
                f"give it to an unprivileged account (chown -R nobody {data})."
            )
        return Account(owner, data.stat().st_gid, switch=True)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root and there is no account `nobody`: "
            "run as an ordinary user, or set DATABASE_URL."
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid, switch=True)


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return str(uid)
