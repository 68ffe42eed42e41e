"""The supervisor over tiny children. As it takes the signals of its process, each test gives it one of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service import processes
from tests.service.running import DEADLINE, REPOSITORY, eventually

PRELUDE = """
import logging, os, sys, time
from shortener_project import supervisor
from shortener_project.supervisor import CannotGoOn, Child, Supervisor
logging.basicConfig(format="%(message)s")
def python(program): return [sys.executable, "-c", program]
def supervise(*children, tick=lambda: None):
    try:
        Supervisor(list(children), tick).run()
        print("stopped")
    except CannotGoOn as error:
        print("cannot go on:", error)
"""
SLEEP = "import time; time.sleep(1000)"
# A child that says in the folder of the test that it is ready.
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
        """The children that have said so, dead ones included."""
        return sorted(int(path.name.removeprefix("ready-")) for path in self.folder.glob("ready-*"))

    def tell(self, number: int) -> None:
        self.process.send_signal(number)

    def outcome(self) -> str:
        """What it printed; it has come to its end by itself."""
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
    for each in started:
        each.end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_its_children_and_returns(supervised: Callable[[str], Supervised], number: int) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    it.tell(number)
    assert it.outcome() == "stopped\n"
    assert not any(map(processes.is_alive, it.ready()))
    assert it.stderr == ""


def test_a_child_that_dies_is_started_again_and_the_others_are_left_alone(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    victim, other = it.ready()
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: len(it.ready()) == 3)
    assert processes.is_alive(other)
    assert re.fullmatch(r"The [ab] died: killed by SIGKILL. Starting it again in 0.0 s.\n", it.stderr)
    it.tell(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_a_child_that_keeps_dying_is_started_ever_more_slowly_and_then_given_up(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
supervise(
    Child("web", python("raise SystemExit(3)"), failures_allowed=2),
    Child("other", python({READY + SLEEP!r})),
)
"""
    )
    assert it.outcome() == "cannot go on: the web keeps dying: exit status 3\n"
    assert it.stderr == (
        "The web died: exit status 3. Starting it again in 0.0 s.\n"
        "The web died: exit status 3. Starting it again in 1.0 s.\n"
    )
    assert not any(map(processes.is_alive, it.ready()))


def test_a_child_that_is_not_essential_is_never_given_up(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(
        f"""
supervisor.MAX_DELAY_SECONDS = supervisor.TICK_SECONDS = 0.1
supervise(Child("extra", python({READY + "raise SystemExit(3)"!r})))
"""
    )
    eventually(lambda: len(it.ready()) >= 6)
    it.tell(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_a_child_that_was_stable_is_started_again_at_once(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(
        f"""
supervisor.STABLE_SECONDS = 0.0
supervise(Child("web", python({READY + "raise SystemExit(3)"!r}), failures_allowed=1))
"""
    )
    eventually(lambda: len(it.ready()) >= 4)
    it.tell(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert set(it.stderr.splitlines()) == {"The web died: exit status 3. Starting it again in 0.0 s."}


def test_a_child_that_does_not_stop_is_killed_with_its_own_children(
    supervised: Callable[[str], Supervised],
) -> None:
    deaf = "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork();"
    it = supervised(
        f"""
supervisor.STOP_SECONDS = 0.3
supervise(Child("deaf", python({deaf + READY + SLEEP!r})), Child("other", python({READY + SLEEP!r})))
"""
    )
    eventually(lambda: len(it.ready()) == 3)
    it.tell(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert it.stderr == "The deaf does not stop; killing it.\n"
    eventually(lambda: not any(map(processes.is_alive, it.ready())))


def test_what_a_killed_child_leaves_behind_is_stopped(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(f"supervise(Child('parent', python({'import os; os.fork();' + READY + SLEEP!r})))")
    eventually(lambda: len(it.ready()) == 2)
    (parent,) = processes.children(it.process.pid)
    (orphan,) = processes.children(parent)
    os.kill(parent, signal.SIGKILL)
    eventually(lambda: not processes.is_alive(orphan))
    it.tell(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_sighup_reaches_those_that_reload_and_spares_the_others(
    supervised: Callable[[str], Supervised],
) -> None:
    catch = f"""
import os, signal, time
signal.signal(signal.SIGHUP, lambda *_: print("reloading", flush=True))
{READY}
while True: time.sleep(1000)
"""
    it = supervised(
        f"supervise(Child('web', python({catch!r}), reloads=True), Child('other', python({READY + SLEEP!r})))"
    )
    eventually(lambda: len(it.ready()) == 2)
    it.tell(signal.SIGHUP)
    eventually(lambda: it.stdout == "reloading\n")
    assert all(map(processes.is_alive, it.ready()))
    it.tell(signal.SIGTERM)
    assert it.outcome() == "reloading\nstopped\n"


def test_children_end_when_the_supervisor_is_killed(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    it.tell(signal.SIGKILL)
    eventually(lambda: not any(map(processes.is_alive, it.ready())))


def test_what_the_tick_raises_ends_it_with_every_child_stopped(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
def tick():
    if len(os.listdir(os.environ["FOLDER"])) == 3:
        raise CannotGoOn("the database is gone")
supervise(Child("web", python({READY + SLEEP!r})), tick=tick)
"""
    )
    assert it.outcome() == "cannot go on: the database is gone\n"
    (child,) = it.ready()
    assert not processes.is_alive(child)


def test_children_inherit_the_descriptors_they_are_passed_and_no_others(
    supervised: Callable[[str], Supervised],
) -> None:
    show = (
        "import os; os.write(1, os.read(int(os.environ['PASSED']), 100)); os.fstat(int(os.environ['KEPT']))"
    )
    it = supervised(
        f"""
passed, writer = os.pipe()
os.write(writer, b"hello\\n")
os.environ.update(PASSED=str(passed), KEPT=str(writer))
os.set_inheritable(writer, True)
supervise(Child("web", python({show!r}), failures_allowed=0, pass_fds=(passed,)))
"""
    )
    assert it.outcome() == "hello\ncannot go on: the web keeps dying: exit status 1\n"
    assert "Bad file descriptor" in it.stderr
