"""Making a new cluster: complete under its final name, or not there at all."""

import os
import shutil
import tempfile
from pathlib import Path

from .account import Account
from .binaries import Binaries
from .errors import EmbeddedPostgresError
from .layout import Layout

ROLE = "shortener"
DRAFT_PREFIX = "initdb-"
# From PostgreSQL 17 on the collation of C.UTF-8 is the server's own, and does not change with the C library.
BUILTIN_LOCALE_SINCE = 17


def has_cluster(data: Path) -> bool:
    """Whether this folder holds a cluster. An empty folder does not; one of something else is an error."""
    if not data.exists() or not any(data.iterdir()):
        return False
    if not (data / "PG_VERSION").exists():
        raise EmbeddedPostgresError(
            f"{data} is not empty but is no PostgreSQL data folder (it has no PG_VERSION): "
            "move it away, or restore it."
        )
    return True


def check_version(data: Path, binaries: Binaries) -> None:
    """Raise EmbeddedPostgresError if another major version of PostgreSQL made this cluster."""
    made_by = (data / "PG_VERSION").read_text().strip()
    if made_by != str(binaries.major):
        raise EmbeddedPostgresError(
            f"{data} was made by PostgreSQL {made_by}, but the server found is {binaries.version} "
            f"({binaries.folder}): install PostgreSQL {made_by}, or move the data with pg_dump."
        )


def make_cluster(layout: Layout, binaries: Binaries, account: Account) -> None:
    """Make the cluster of this layout. Call it under the start/stop lock, and only if there is none."""
    home = layout.data.parent
    for leftover in home.glob(f"{DRAFT_PREFIX}*"):
        # An initdb whose parent was killed may still be writing there: what it saves goes next time.
        shutil.rmtree(leftover, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=DRAFT_PREFIX, dir=home))
    try:
        draft.chmod(0o711)
        data, password_file = draft / "data", draft / "password"
        data.mkdir(mode=0o700)
        account.take(data)
        descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            account.take(file.fileno())
            file.write(layout.password())
        _initdb(data, password_file, binaries, account)
        data.rename(layout.data)
        _sync(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _initdb(data: Path, password_file: Path, binaries: Binaries, account: Account) -> None:
    if binaries.major >= BUILTIN_LOCALE_SINCE:
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        locale = ["--locale=C.UTF-8"]
    done = account.run(
        [
            binaries.folder / "initdb",
            f"--pgdata={data}",
            f"--username={ROLE}",
            "--auth=scram-sha-256",
            f"--pwfile={password_file}",
            "--encoding=UTF8",
            "--data-checksums",
            *locale,
        ],
        cwd=data.parent,
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise EmbeddedPostgresError(
            f"PostgreSQL could not make its data folder in {data.parent.parent}: {reason}"
        )


def _sync(folder: Path) -> None:
    # Without this a power cut could bring back the draft's name, and the next start clears drafts away.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
