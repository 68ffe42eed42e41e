"""A supervisor with children, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing.service import processes
from testing.service.running import DEADLINE, REPOSITORY

PRELUDE = """
import logging, os, sys, time
from shortener_project.running import supervisor
from shortener_project.running.supervisor import ChildKeepsFailing, Child
from shortener_project.running.supervisor import Supervisor
logging.basicConfig(format="%(message)s")
def python(program): return lambda: exec(program, {})
def supervise(*children, tick=lambda: None):
    try:
        Supervisor(list(children), tick).run()
        print("stopped")
    except ChildKeepsFailing as error:
        print("cannot continue:", error)
"""
SLEEP = "import time; time.sleep(1000)"
# A child that creates a file in the test's folder when it is ready.
READY = "import os; open(f'{os.environ[\"FOLDER\"]}/ready-{os.getpid()}', 'w').close();"


class Supervised:
    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PRELUDE + program],
                cwd=REPOSITORY,
                env={"PATH": os.environ["PATH"], "FOLDER": str(folder)},
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )

    @property
    def stdout(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    def ready(self) -> list[int]:
        """The pids of the children that became ready, including dead ones."""
        return sorted(int(path.name.removeprefix("ready-")) for path in self.folder.glob("ready-*"))

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def outcome(self) -> str:
        """Return its output, once it has exited by itself."""
        assert self.process.wait(DEADLINE) == 0, self.stderr
        return self.stdout

    def end(self) -> None:
        for pid in (*self.ready(), self.process.pid):
            if processes.is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Callable[[str], Supervised]]:
    started: list[Supervised] = []

    def start(program: str) -> Supervised:
        started.append(Supervised(tmp_path, program))
        return started[-1]

    yield start
    for process in started:
        process.end()
