"""Installations of PostgreSQL in temporary folders, and processes that use them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from local_postgres import EmbeddedPostgres

REPOSITORY = Path(__file__).parents[2]
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
