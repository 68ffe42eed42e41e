"""Real servers in temporary folders. Everything that a test starts is stopped when it ends, even if it fails."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql

from local_postgres import EmbeddedPostgres, cluster
from local_postgres.layout import Layout

REPOSITORY = Path(__file__).parents[3]
DEADLINE = 240

# An application that executes commands line by line, so that a test controls the order of events.
# It restores SIGINT, which background jobs of a shell ignore.
APP = """
import signal, sys
from pathlib import Path
from local_postgres import EmbeddedPostgres, EmbeddedPostgresError
signal.signal(signal.SIGINT, signal.SIG_DFL)
server = EmbeddedPostgres(Path(sys.argv[1]), options={"fsync": "off"})
leases = []
def acquire(): leases.append(server.acquire()); return server.pid
def release(): return leases.pop().release()
def ensure_running(): server.ensure_running(); return server.pid
def url(): return server.url
for line in sys.stdin:
    try:
        print(locals()[line.strip()](), flush=True)
    except EmbeddedPostgresError as error:
        print("error:", error, flush=True)
"""


class App:
    """A process that uses the server. Separate `send` and `receive` let several apps work concurrently."""

    def __init__(self, var_dir: Path, program: str, python: Sequence[str], **popen: Any) -> None:
        # A process group per app: a signal to the group acts like Ctrl-C in a terminal.
        self.process = subprocess.Popen(
            [*python, "-c", program, str(var_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **popen,
        )

    def send(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def receive(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def call(self, command: str) -> str:
        self.send(command)
        return self.receive()

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.killpg(self.process.pid, number)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class Installation:
    """One VAR_DIR with its server and apps."""

    def __init__(self, var_dir: Path) -> None:
        self.var_dir = var_dir
        self._apps: list[App] = []

    @property
    def server_dir(self) -> Path:
        return (self.var_dir / "postgres").resolve()

    @property
    def data(self) -> Path:
        return self.server_dir / "data"

    @property
    def log(self) -> str:
        return (self.server_dir / "server.log").read_text()

    def server(self, database: str = "shortener", **options: str) -> EmbeddedPostgres:
        return EmbeddedPostgres(self.var_dir, database, options={"fsync": "off", **options})

    def app(
        self,
        program: str = APP,
        *,
        python: Sequence[str] = (sys.executable,),
        modules: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        **popen: Any,
    ) -> App:
        """Start a process. The folders in `modules` come first on its module path."""
        path = os.pathsep.join(str(folder) for folder in (*modules, REPOSITORY))
        env = {**os.environ, "PYTHONPATH": path, **(environment or {})}
        app = App(self.var_dir, program, python, cwd="/", env=env, **popen)
        self._apps.append(app)
        return app

    def processes(self, *commands: str) -> list[int]:
        """Every living process with one of these names that belongs to this installation."""
        folders = (os.fsencode(self.var_dir) + b"/", os.fsencode(self.server_dir) + b"/")
        return [
            pid
            for pid in living(commands or ("postgres", "initdb"))
            if any(folder in place for folder in folders for place in places(pid))
        ]

    def kill_processes(self) -> None:
        for pid in self.processes():
            # Without the server, its children end by themselves.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end_everything(self) -> None:
        for app in self._apps:
            app.close()
        self._apps.clear()
        # An immediate shutdown first: it frees the shared memory segment; SIGKILL would leak it.
        started = time.monotonic()
        while processes := self.processes():
            late = time.monotonic() - started > 5
            for pid in processes:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGQUIT)
            time.sleep(0.02)


def living(commands: Sequence[str]) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                head, _, tail = (entry / "stat").read_text(errors="replace").rpartition(")")
            except OSError:
                continue
            if head.partition("(")[2] in commands and tail.split()[0] not in ("Z", "X"):
                yield int(entry.name)


def places(pid: int) -> list[bytes]:
    """The working directory, if readable, and the words of the command line."""
    arguments: list[bytes] = []
    with suppress(OSError):
        arguments += Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    with suppress(OSError):
        arguments.append(os.fsencode(Path(f"/proc/{pid}/cwd").readlink()))
    return arguments


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
