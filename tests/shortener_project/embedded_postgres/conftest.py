"""Real servers in throw-away folders: what a test has started is gone when it ends, even by failing."""

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

from shortener_project.embedded_postgres import EmbeddedPostgres
from shortener_project.embedded_postgres.layout import Layout

REPOSITORY = Path(__file__).parents[3]
DEADLINE = 30

# An application that does what it is told line by line, so that a test decides who acts when.
# It can be interrupted even if the tests cannot, because they run in the background of a shell.
APP = """
import signal, sys
from pathlib import Path
from shortener_project.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
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
    """A process that uses the server; `say` and `hear` apart let several of them work at the same time."""

    def __init__(self, var_dir: Path, program: str, python: Sequence[str], **popen: Any) -> None:
        # A process group per app, so that a signal to it reaches what the Ctrl-C of a terminal would reach.
        self.process = subprocess.Popen(
            [*python, "-c", program, str(var_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **popen,
        )

    def say(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def do(self, command: str) -> str:
        self.say(command)
        return self.hear()

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
    def home(self) -> Path:
        return (self.var_dir / "postgres").resolve()

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> str:
        return (self.home / "server.log").read_text()

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
        """Start a process; folders in `modules` come first on its module path."""
        path = os.pathsep.join(str(folder) for folder in (*modules, REPOSITORY))
        env = {**os.environ, "PYTHONPATH": path, **(environment or {})}
        app = App(self.var_dir, program, python, cwd="/", env=env, **popen)
        self._apps.append(app)
        return app

    def processes(self, *commands: str) -> list[int]:
        """Every living process of these names that works, or worked, on this installation."""
        folders = (os.fsencode(self.var_dir) + b"/", os.fsencode(self.home) + b"/")
        return [
            pid
            for pid in living(commands or ("postgres", "initdb"))
            if any(folder in place for folder in folders for place in places(pid))
        ]

    def kill_processes(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)

    def end_everything(self) -> None:
        for app in self._apps:
            app.close()
        self._apps.clear()
        # An immediate shutdown first: it gives the shared memory segment back, which a kill would leak.
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
    """The working directory, where it may be read, and the words of the command line."""
    found: list[bytes] = []
    with suppress(OSError):
        found += Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    with suppress(OSError):
        found.append(os.fsencode(Path(f"/proc/{pid}/cwd").readlink()))
    return found


def make_root() -> Path:
    if not Path("/proc/self/stat").exists():
        pytest.skip("NOT TESTED: these tests watch processes through /proc, which this system does not have.")
    # Not tmp_path: its parents are closed to the account that root's servers run as.
    root = Path(tempfile.mkdtemp(prefix="shortener-Test-"))
    root.chmod(0o755)
    return root


@pytest.fixture
def make_installation() -> Iterator[Callable[..., Installation]]:
    """Factory of installations without a cluster; `below` names the folders above VAR_DIR."""
    root = make_root()
    made: list[Installation] = []

    def make(below: str = "") -> Installation:
        var_dir = root / f"{len(made)}" / below / "var"
        var_dir.mkdir(parents=True)
        made.append(Installation(var_dir))
        return made[-1]

    yield make
    for installation in made:
        installation.end_everything()
        # Both may lie outside of VAR_DIR.
        shutil.rmtree(Layout(installation.var_dir).client_socket_dir, ignore_errors=True)
        shutil.rmtree(installation.home, ignore_errors=True)
    shutil.rmtree(root)


@pytest.fixture
def fresh_installation(make_installation: Callable[..., Installation]) -> Installation:
    return make_installation()


@pytest.fixture(scope="session")
def used_var_dir() -> Iterator[Path]:
    root = make_root()
    EmbeddedPostgres(root / "var", options={"fsync": "off"}).acquire().release()
    yield root / "var"
    home = Installation(root / "var").home
    shutil.rmtree(home, ignore_errors=True)
    shutil.rmtree(root)


@pytest.fixture
def installation(used_var_dir: Path) -> Iterator[Installation]:
    """An installation with a cluster and no server running; tests share the cluster, to save its making."""
    installation = Installation(used_var_dir)
    yield installation
    installation.end_everything()


@pytest.fixture
def query() -> Callable[..., list[Any]]:
    """Run one statement over a connection of its own; the first column of its rows, if it has any."""

    def run(url: str, statement: LiteralString) -> list[Any]:
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return [row[0] for row in cursor] if cursor.description else []

    return run


@pytest.fixture
def shell() -> Callable[[str, str], list[str]]:
    """Run a command as the account of the server, which may look into /proc where even root may not."""

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
    """Wait until something is true, and return it."""

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
        try:
            return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return alive
