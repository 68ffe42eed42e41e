"""Creation of a new cluster. The data folder appears atomically, complete, under its final name."""

import os
import shutil
import tempfile
from pathlib import Path

from .account import Account, initdb_account
from .binaries import Binaries
from .errors import EmbeddedPostgresError
from .layout import Layout
from .private_account import change_owner

ROLE = "shortener"
DRAFT_PREFIX = "initdb-"
# Since PostgreSQL 17, the server has its own C.UTF-8 collation, which does not change with the C library.
BUILTIN_LOCALE_SINCE = 17


def has_cluster(data: Path) -> bool:
    """Whether this folder holds a cluster. Raises EmbeddedPostgresError if it contains anything else."""
    if not data.exists() or not any(data.iterdir()):
        return False
    if not (data / "PG_VERSION").exists():
        raise EmbeddedPostgresError(
            f"{data} is not empty and not a PostgreSQL data folder (PG_VERSION is missing): "
            "move it away, or restore it."
        )
    return True


def check_version(data: Path, binaries: Binaries) -> None:
    """Raise EmbeddedPostgresError if another major version of PostgreSQL created this cluster."""
    data_version = (data / "PG_VERSION").read_text().strip()
    if data_version != str(binaries.major):
        raise EmbeddedPostgresError(
            f"{data} was created by PostgreSQL {data_version}, but the installed server is {binaries.version} "
            f"({binaries.folder}): install PostgreSQL {data_version}, or move the data with pg_dump."
        )


def make_cluster(layout: Layout, binaries: Binaries, account: Account) -> None:
    """Create the cluster of this layout. Hold the start/stop lock; no cluster may exist."""
    server_dir = layout.data.parent
    for old_draft in server_dir.glob(f"{DRAFT_PREFIX}*"):
        # An initdb whose parent was killed may still write there. The next start removes those files.
        shutil.rmtree(old_draft, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=DRAFT_PREFIX, dir=server_dir))
    initdb_owner = initdb_account(account)
    try:
        if account.switch:
            os.chown(draft, -1, account.gid)
            draft.chmod(0o710)
        data, password_file = draft / "data", draft / "password"
        data.mkdir(mode=0o700)
        initdb_owner.chown(data)
        descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            initdb_owner.chown(file.fileno())
            file.write(layout.password())
        _initdb(data, password_file, binaries, initdb_owner)
        if initdb_owner.uid != account.uid:
            change_owner(data, former=initdb_owner.uid, uid=account.uid, gid=account.gid)
        data.rename(layout.data)
        _sync(server_dir)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _initdb(data: Path, password_file: Path, binaries: Binaries, account: Account) -> None:
    if binaries.major >= BUILTIN_LOCALE_SINCE:
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        locale = ["--locale=C.UTF-8"]
    result = account.run(
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
    if result.returncode != 0:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[0]
        raise EmbeddedPostgresError(
            f"PostgreSQL could not create its data folder in {data.parent.parent}: {reason}"
        )


def _sync(folder: Path) -> None:
    # Make the rename durable. After a power failure, the folder could have its draft name, and drafts are deleted.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
