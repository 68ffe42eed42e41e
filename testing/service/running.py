"""The whole service as real processes: start it, send requests and signals, and clean up in any case.

Its users also import the polling, connection and port helpers from here.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from testing.polling import DEADLINE, eventually
from testing.service import forks, processes
from testing.service.connection import Connection, Response
from testing.service.installation import Installation
from testing.service.limits import LIMITS_OFF
from testing.service.ports import free_port, listens

__all__ = [
    "DEADLINE",
    "REPOSITORY",
    "Connection",
    "Owner",
    "Response",
    "Service",
    "clicks_of",
    "eventually",
    "free_port",
    "listens",
]

REPOSITORY = Path(__file__).parents[2]


class Owner(NamedTuple):
    email: str
    password: str
    api_key: str


class Service(Installation):
    """One installation with its VAR_DIR and its port, and the processes of its latest start.

    ``may_fork``: let `launch` and `manage` fork a process that has imported the libraries. Tests set it.
    """

    may_fork = False

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        python: Sequence[str] = (sys.executable,),
        account: int | None = None,
        code: Path = REPOSITORY,
        **environment: str,
    ) -> None:
        """`account`: the user id that runs the service, by default the tests' own. `code`: of the next start."""
        self.code = code
        super().__init__(folder, port or free_port())
        self.environment = {
            "PATH": os.environ["PATH"],
            "VAR_DIR": str(self.var_dir),
            "PORT": str(self.port),
            "WEB_CONCURRENCY": "1",
            "API_CONCURRENCY": "1",
            "INTERNAL_LISTEN": f"127.0.0.1:{free_port()}",
            # A killed service cannot remove its default metrics folder.
            "PROMETHEUS_MULTIPROC_DIR": str(self.var_dir / "metrics"),
            **LIMITS_OFF,
            **environment,
        }
        self._python = python
        self._account = account

    def is_ready(self) -> bool:
        """Whether it runs and serves with the database."""
        if self.process.poll() is not None:
            return False
        with suppress(OSError, http.client.HTTPException):
            return self.call("GET", "/readyz").status == 200
        return False

    def is_healthy(self) -> bool:
        """Whether it is ready with all its workers: the first one serves before gunicorn forks the others."""
        return self.is_ready() and self.has_all_workers()

    def has_all_workers(self) -> bool:
        """Whether the web server has exactly the configured workers, and each has its role.

        An API worker inherits the listening socket at the fork and closes it once it runs. Without the fast lane, all
        workers accept connections.
        """
        web, api = int(self.environment["WEB_CONCURRENCY"]), int(self.environment["API_CONCURRENCY"])
        has_lane = self.environment.get("FAST_LANE") != "no" and find_spec("fastlane") is not None
        return len(self.workers()) == web + api and len(self.accepting()) == (web if has_lane else web + api)

    def start(self, *command: str) -> None:
        """Start it and wait until it serves with all its workers: gunicorn starts them one after another."""
        self.launch(*command)
        eventually(self._serves)
        eventually(self.has_all_workers)

    def launch(self, *command: str) -> None:
        """Start it in a separate session: a signal to its process group then acts like Ctrl-C in its terminal."""
        if self._started:
            # The processes of the previous start may still be closing their sockets.
            eventually(lambda: processes.listening_socket(self.port) is None)
        with (self.folder / "stdout").open("wb") as stdout, (self.folder / "stderr").open("wb") as stderr:
            if not command and self._forks(self.environment):
                self.process = forks.fork(["serve"], self.environment, stdout.fileno(), stderr.fileno())
            else:
                self.process = subprocess.Popen(
                    command or [*self._python, "manage.py", "serve"],
                    cwd=self.code,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                    user=self._account,
                    group=self._account,
                    extra_groups=None if self._account is None else [],
                    preexec_fn=forks.restore_sigint,  # noqa: PLW1509 # takes no lock that a thread could hold
                )
        self._started.append(self.process)

    def manage(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py with the service's environment."""
        variables = self.environment | environment
        if self._forks(variables):
            return forks.run([str(argument) for argument in arguments], variables, DEADLINE)
        return subprocess.run(
            [*self._python, "manage.py", *arguments],
            cwd=self.code,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE,
        )

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def signal_group(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def exit_code(self) -> int:
        """Waits for the process to exit."""
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
    def address(self) -> str:
        """The address to which proxies connect."""
        return f"127.0.0.1:{self.port}"

    @property
    def owner(self) -> Owner:
        """The first account, from the file that the first start wrote."""
        text = (self.var_dir / "first_account.txt").read_text()
        match = re.fullmatch(r"  e-mail    (\S+)\n  password  (\S+)\n  API key   (\S+)\n", text)
        assert match is not None, text
        return Owner(*match.groups())

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """One request over a new connection."""
        with closing(Connection(self.port)) as connection:
            return connection.call(method, path, body, **headers)

    def call_internal(self, path: str) -> Response:
        """One request to the internal listener."""
        port = int(self.environment["INTERNAL_LISTEN"].rpartition(":")[2])
        with closing(Connection(port)) as connection:
            return connection.call("GET", path)

    def create_link(self, api_key: str, **fields: Any) -> dict[str, Any]:
        body = {"originalUrl": "https://example.com/page", **fields}
        response = self.call("POST", "/api/urls", body, X_API_Key=api_key)
        assert response.status == 201, response
        link: dict[str, Any] = response.json()["data"]["url"]
        return link

    def _serves(self) -> bool:
        assert self.process.poll() is None, f"The service exited with {self.process.poll()}.\n{self.stderr}"
        try:
            return self.call("GET", "/healthz").status == 200
        # The listener of a killed process may reset a client.
        except ConnectionError:
            return False

    def _forks(self, environment: dict[str, str]) -> bool:
        return (
            self.may_fork
            and tuple(self._python) == (sys.executable,)
            and self._account is None
            and self.code == REPOSITORY
            and forks.can_fork(environment)
        )


def clicks_of(service: Service, api_key: str, link: dict[str, Any]) -> int:
    """How many clicks the service has counted."""
    response = service.call("GET", f"/api/urls/{link['_id']}", X_API_Key=api_key)
    clicks: int = response.json()["data"]["url"]["clickCount"]
    return clicks
