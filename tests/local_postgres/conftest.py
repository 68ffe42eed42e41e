"""Real servers in temporary folders. Everything that a test starts is stopped when it ends, even if it fails."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql

from local_postgres import EmbeddedPostgres, cluster
from local_postgres.layout import Layout
from tests.local_postgres.apps import DEADLINE, Installation


def make_root() -> Path:
    if not Path("/proc/self/stat").exists():
        pytest.skip("NOT TESTED: these tests watch processes through /proc, which this system does not have.")
    # Not tmp_path: the account that root's servers use cannot enter its parents.
    root = Path(tempfile.mkdtemp(prefix="shortener-Test-"))
    root.chmod(0o755)
    return root


@pytest.fixture(autouse=True)
def long_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, the children of a killed server may take longer to exit."""
    monkeypatch.setattr(cluster, "RETRY_FAILED_START", DEADLINE)


@pytest.fixture
def make_installation() -> Iterator[Callable[..., Installation]]:
    """Factory of installations without a cluster; `below` names the folders above VAR_DIR."""
    root = make_root()
    installations: list[Installation] = []

    def make(below: str = "") -> Installation:
        var_dir = root / f"{len(installations)}" / below / "var"
        var_dir.mkdir(parents=True)
        installations.append(Installation(var_dir))
        return installations[-1]

    yield make
    for installation in installations:
        installation.end_everything()
        # Both may be outside VAR_DIR.
        shutil.rmtree(Layout(installation.var_dir).client_socket_dir, ignore_errors=True)
        shutil.rmtree(installation.server_dir, ignore_errors=True)
    shutil.rmtree(root)


@pytest.fixture
def fresh_installation(make_installation: Callable[..., Installation]) -> Installation:
    return make_installation()


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A VAR_DIR with a cluster that no test starts. Copying it takes a fraction of the time of initdb."""
    root = make_root()
    EmbeddedPostgres(root / "var", options={"fsync": "off"}).acquire().release()
    yield root / "var"
    shutil.rmtree(root)


def copy(template: Path, var_dir: Path) -> None:
    # Unlike shutil.copytree, it keeps the owners.
    subprocess.run(["cp", "--archive", f"{template}/.", var_dir], check=True)


@pytest.fixture
def make_used_installation(
    make_installation: Callable[..., Installation], template: Path
) -> Callable[[], Installation]:
    """Factory of installations with a cluster of their own, after a first start."""

    def make() -> Installation:
        installation = make_installation()
        copy(template, installation.var_dir)
        return installation

    return make


@pytest.fixture
def used_installation(make_used_installation: Callable[[], Installation]) -> Installation:
    return make_used_installation()


@pytest.fixture(scope="session")
def used_var_dir(template: Path) -> Iterator[Path]:
    root = make_root()
    copy(template, root / "var")
    yield root / "var"
    shutil.rmtree(root)


@pytest.fixture
def installation(used_var_dir: Path) -> Iterator[Installation]:
    """An installation with a cluster and no running server. Tests share the cluster to save time."""
    installation = Installation(used_var_dir)
    yield installation
    installation.end_everything()


@pytest.fixture
def query() -> Callable[..., list[Any]]:
    """Run one statement over a new connection. Returns the first column of its rows, if any."""

    def run(url: str, statement: LiteralString) -> list[Any]:
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return [row[0] for row in cursor] if cursor.description else []

    return run


@pytest.fixture
def shell() -> Callable[[str, str], list[str]]:
    """Run a command as the server's account, which can read entries in /proc that even root may not."""

    def run(url: str, command: str) -> list[str]:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TEMP TABLE output (number serial, line text)")
            connection.execute(
                sql.SQL("COPY output (line) FROM PROGRAM {} (DELIMITER E'\\x01')").format(command)
            )
            return [line for (line,) in connection.execute("SELECT line FROM output ORDER BY number")]

    return run


@pytest.fixture
def eventually() -> Callable[[Callable[[], Any]], Any]:
    """Poll a condition until it is true, and return its value."""

    def wait(condition: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + DEADLINE
        while not (result := condition()):
            assert time.monotonic() < deadline, "The condition did not come true in time."
            time.sleep(0.01)
        return result

    return wait


@pytest.fixture
def is_alive() -> Callable[[int], bool]:
    def alive(pid: int) -> bool:
        """A process that the kernel is ending has no command line any more."""
        entry = Path(f"/proc/{pid}")
        try:
            state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            return state not in ("Z", "X") and bool((entry / "cmdline").read_bytes())
        except OSError:
            return False

    return alive
