"""Accounts of the operating system, and what belongs to them."""

import grp
import os
import pwd
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT TESTED: stepping down from root, because the tests do not run as root."
)


def status_of(pid: int) -> dict[str, str]:
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def who(pid: int) -> tuple[str, str, str]:
    """The account, the group and the supplementary groups of a process."""
    fields = status_of(pid)
    uids, gids = set(fields["Uid"].split()), set(fields["Gid"].split())
    return ",".join(uids), ",".join(gids), fields["Groups"].strip()


@pytest.fixture
def nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


@pytest.fixture
def python_of_nobody(nobody: pwd.struct_passwd) -> str:
    """A Python that the account can run: the tests' own may be in a private home folder."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            check = "import sys; sys.exit(sys.version_info < (3, 11))"
            if (
                subprocess.run([python, "-c", check], user=nobody.pw_uid, cwd="/", check=False).returncode
                == 0
            ):
                return python
        except OSError:
            continue
    pytest.skip("NOT TESTED: running as an ordinary user, because `nobody` can run no Python 3.11 here.")


def belongs_to(folder: Path) -> set[tuple[int, int]]:
    """The owners and groups of a folder and of everything in it."""
    owners = set()
    for path in (folder, *folder.rglob("*")):
        # A running server replaces files.
        with suppress(FileNotFoundError):
            status = path.lstat()
            owners.add((status.st_uid, status.st_gid))
    return owners


def is_strange(number: int) -> bool:
    """Whether no user or group has this id."""
    for look_up in (pwd.getpwuid, grp.getgrgid):
        with suppress(KeyError):
            look_up(number)
            return False
    return True
