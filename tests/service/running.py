"""The whole service as real processes: started, asked, signalled and, whatever happens, ended."""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from shortener_project.embedded_postgres import EmbeddedPostgres
from shortener_project.embedded_postgres.layout import Layout
from tests.conftest import FIREFOX
from tests.limits import LIMITS_OFF
from tests.service import processes

REPOSITORY = Path(__file__).parents[2]
# Seconds after which something is taken to hang. Generous: the machine may be busy with other things.
DEADLINE = 60
T = TypeVar("T")


def eventually(condition: Callable[[], T], *, every: float = 0.05) -> T:
    """Wait until something is true, and return it; looked at again after so many seconds."""
    deadline = time.monotonic() + DEADLINE
    while not (result := condition()):
        assert time.monotonic() < deadline, "The condition did not come true in time."
        time.sleep(every)
    return result


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Connection(http.client.HTTPConnection):
    """A connection that is kept alive; `send` and `receive` apart let many requests be under way at once."""

    def __init__(self, port: int) -> None:
        super().__init__("127.0.0.1", port, timeout=DEADLINE)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        self.say(method, path, body, **headers)
        return self.hear()

    def say(self, method: str, path: str, body: Any = None, **headers: str) -> None:
        sent = {"User-Agent": FIREFOX} | {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent["Content-Type"] = "application/json"
        self.request(method, path, None if body is None else json.dumps(body), sent)

    def hear(self) -> Answer:
        response = self.getresponse()
        return Answer(response.status, response.headers, response.read())


class Owner(NamedTuple):
    email: str
    password: str
    api_key: str


class Service:
    """One installation with its VAR_DIR and its port, and the processes of its latest start."""

    process: subprocess.Popen[bytes]

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        python: Sequence[str] = (sys.executable,),
        account: int | None = None,
        **environment: str,
    ) -> None:
        """The user id `account` runs the service in place of the tests' own."""
        self.folder = folder
        self.var_dir = folder / "var"
        self.port = port or free_port()
        self.environment = {
            "PATH": os.environ["PATH"],
            "VAR_DIR": str(self.var_dir),
            "PORT": str(self.port),
            "WEB_CONCURRENCY": "1",
            "API_CONCURRENCY": "1",
            # What is killed cannot tidy the one that it would take by itself.
            "PROMETHEUS_MULTIPROC_DIR": str(self.var_dir / "metrics"),
            **LIMITS_OFF,
            **environment,
        }
        self._python = python
        self._account = account
        self._started: list[subprocess.Popen[bytes]] = []

    def is_well(self) -> bool:
        """Whether it runs and serves."""
        if self.process.poll() is not None:
            return False
        with suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/readyz").status == 200
        return False

    def start(self, *command: str) -> None:
        """Start it and wait until it serves."""
        self.launch(*command)
        eventually(self._serves)

    def launch(self, *command: str) -> None:
        """Start it, in a session of its own: a signal to its group is what Ctrl-C in its terminal is."""
        with (self.folder / "stdout").open("wb") as stdout, (self.folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                command or [*self._python, "manage.py", "serve"],
                cwd=REPOSITORY,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                user=self._account,
                group=self._account,
                extra_groups=None if self._account is None else [],
                preexec_fn=_mind_interrupts,  # noqa: PLW1509 # no test has threads while it starts a service
            )
        self._started.append(self.process)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def signal_group(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def exit_code(self) -> int:
        """Waits for its end."""
        return self.process.wait(DEADLINE)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.exit_code()

    @property
    def stdout(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def owner(self) -> Owner:
        """As the latest start printed it."""
        found = re.search(r"  e-mail    (\S+)\n  password  (\S+)\n  API key   (\S+)\n", self.stdout)
        assert found is not None, self.stdout
        return Owner(*found.groups())

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """One request over a connection of its own."""
        with closing(Connection(self.port)) as connection:
            return connection.ask(method, path, body, **headers)

    def create_link(self, api_key: str, **fields: Any) -> dict[str, Any]:
        body = {"originalUrl": "https://example.com/page", **fields}
        answer = self.ask("POST", "/api/urls", body, X_API_Key=api_key)
        assert answer.status == 201, answer
        link: dict[str, Any] = answer.json()["data"]["url"]
        return link

    def serve(self) -> int:
        """The pid of `manage.py serve`, which may be make's child."""
        candidates = [self.process.pid, *processes.children(self.process.pid)]
        return next(pid for pid in candidates if b"serve" in processes.command_line(pid))

    def gunicorn(self) -> int:
        """The pid of the web server's master."""
        (pid,) = eventually(lambda: processes.children(self.serve(), "gunicorn"))
        return pid

    def workers(self) -> list[int]:
        return processes.children(self.gunicorn())

    def accepting(self) -> list[int]:
        """The workers that accept connections; the others get theirs from these."""
        return processes.listening(self.workers(), self.port)

    def child(self, command: str) -> int:
        """The pid of the background process that runs this command of manage.py."""
        (pid,) = eventually(lambda: processes.children(self.serve(), command))
        return pid

    def postmaster(self) -> int | None:
        return EmbeddedPostgres(self.var_dir).pid

    def worker_of(self, connection: Connection) -> int | None:
        """The worker that has accepted the connection."""
        client_port = connection.sock.getsockname()[1]
        return processes.holder_of_connection(self.workers(), self.port, client_port)

    def processes(self) -> list[int]:
        """Everything alive that belongs to this installation, the database server included."""
        layout = Layout(self.var_dir.resolve())
        variable = f"VAR_DIR={self.var_dir}".encode()
        data = os.fsencode(layout.data)
        title = f"postgres: {layout.cluster_name}: ".encode()
        found = []
        for pid in processes.living():
            words = processes.command_line(pid) or [b""]
            if (
                variable in processes.environment(pid)
                or data in words
                or words[0].startswith(title)
                or (b"initdb" in words[0] and any(str(self.var_dir).encode() in word for word in words))
            ):
                found.append(pid)
        return found

    def kill_everything(self) -> None:
        """What was being started meanwhile, too."""

        def nothing_lives() -> bool:
            remaining = self.processes()
            for pid in remaining:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not remaining

        eventually(nothing_lives)
        self.process.wait(DEADLINE)

    def end(self) -> None:
        """Leave nothing behind, neither processes nor files."""
        for process in self._started:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        started = time.monotonic()
        while remaining := self.processes():
            for pid in remaining:
                # An immediate shutdown gives the shared memory of the database back, which a kill would leak.
                gently = (
                    b"postgres" in (processes.command_line(pid) or [b""])[0]
                    and time.monotonic() - started < 5
                )
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGQUIT if gently else signal.SIGKILL)
            time.sleep(0.02)
        if (self.var_dir / "database_password").exists():
            # Both may lie outside of VAR_DIR.
            shutil.rmtree(Layout(self.var_dir).client_socket_dir, ignore_errors=True)
            shutil.rmtree((self.var_dir / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(self.folder)

    def _serves(self) -> bool:
        assert self.process.poll() is None, f"It ended with {self.process.poll()}.\n{self.stderr}"
        try:
            return self.ask("GET", "/healthz").status == 200
        except ConnectionRefusedError:
            return False


def free_port() -> int:
    """Below the ports that the system gives to clients, so that none takes it before the service does."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as candidate, suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _mind_interrupts() -> None:
    """What runs in the background of a shell ignores Ctrl-C, and so would everything that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
