"""The supervisor with small forks. It handles signals, so each test runs it in a separate process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing.service import processes
from testing.service.running import DEADLINE, REPOSITORY, eventually

PRELUDE = """
import logging, os, sys, time
from shortener_project.running import child, supervisor
from shortener_project.running.child import ChildKeepsFailing, Child
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
STRAY_SIGNALS = {
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGPIPE),
    *(signal.SIGIO, signal.SIGRTMIN, signal.SIGRTMAX),
}
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
        """Its output, once it has exited by itself."""
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_stop_signal_stops_children_and_returns(supervised: Callable[[str], Supervised], number: int) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    it.send_signal(number)
    assert it.outcome() == "stopped\n"
    assert not any(map(processes.is_alive, it.ready()))
    assert it.stderr == ""


def test_only_the_dead_child_is_restarted(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    victim, other = it.ready()
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: len(it.ready()) == 3)
    assert processes.is_alive(other)
    assert re.fullmatch(r"The [ab] died: killed by SIGKILL. Starting it again in 0.0 s.\n", it.stderr)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_failing_essential_child_is_restarted_with_backoff_then_stops_the_service(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
# However long this takes, the child counts as failing.
child.STABLE_SECONDS = float("inf")
supervise(
    Child("web", python("raise SystemExit(3)"), failures_allowed=2),
    Child("other", python({READY + SLEEP!r})),
)
"""
    )
    assert it.outcome() == "cannot continue: the web keeps dying: exit status 3\n"
    assert it.stderr == (
        "The web died: exit status 3. Starting it again in 0.0 s.\n"
        "The web died: exit status 3. Starting it again in 1.0 s.\n"
    )
    assert not any(map(processes.is_alive, it.ready()))


def test_child_starts_after_the_child_it_depends_on_is_done(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(
        f"""
first = Child("first", python({READY!r}), failures_allowed=0, once=True)
supervise(first, Child("second", python({READY + SLEEP!r}), after=first))
"""
    )
    eventually(lambda: len(it.ready()) == 2 and sum(map(processes.is_alive, it.ready())) == 1)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert it.stderr == ""


def test_failed_dependency_stops_the_service(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
first = Child("first", python("raise SystemExit(3)"), failures_allowed=0, once=True)
supervise(first, Child("second", python({READY + SLEEP!r}), after=first))
"""
    )
    assert it.outcome() == "cannot continue: the first keeps dying: exit status 3\n"
    assert it.ready() == []


def test_nonessential_child_is_restarted_forever(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(
        f"""
child.MAX_DELAY_SECONDS = supervisor.TICK_SECONDS = 0.1
supervise(Child("extra", python({READY + "raise SystemExit(3)"!r})))
"""
    )
    eventually(lambda: len(it.ready()) >= 6)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_stable_child_is_restarted_at_once(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(
        f"""
child.STABLE_SECONDS = 0.0
supervise(Child("web", python({READY + "raise SystemExit(3)"!r}), failures_allowed=1))
"""
    )
    eventually(lambda: len(it.ready()) >= 4)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert set(it.stderr.splitlines()) == {"The web died: exit status 3. Starting it again in 0.0 s."}


def test_a_child_that_does_not_stop_is_killed_with_its_own_children(
    supervised: Callable[[str], Supervised],
) -> None:
    deaf = "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork();"
    it = supervised(
        f"""
# Enough for the other child, even if this machine is busy.
supervisor.STOP_SECONDS = 10.0
supervise(Child("deaf", python({deaf + READY + SLEEP!r})), Child("other", python({READY + SLEEP!r})))
"""
    )
    eventually(lambda: len(it.ready()) == 3)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert it.stderr == "The deaf does not stop; killing it.\n"
    eventually(lambda: not any(map(processes.is_alive, it.ready())))


def test_orphans_of_a_killed_child_are_stopped(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(f"supervise(Child('parent', python({'import os; os.fork();' + READY + SLEEP!r})))")
    eventually(lambda: len(it.ready()) == 2)
    (parent,) = processes.children(it.process.pid)
    (orphan,) = processes.children(parent)
    os.kill(parent, signal.SIGKILL)
    eventually(lambda: not processes.is_alive(orphan))
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_sighup_is_forwarded_only_to_children_that_reload(
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
    it.send_signal(signal.SIGHUP)
    eventually(lambda: it.stdout == "reloading\n")
    assert all(map(processes.is_alive, it.ready()))
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "reloading\nstopped\n"


def test_stray_signals_stop_neither_the_supervisor_nor_its_children(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    before = it.ready()

    for number in sorted(STRAY_SIGNALS):
        it.send_signal(number)

    # Once this signal has taken effect, the earlier signals have, too.
    os.kill(before[0], signal.SIGKILL)
    eventually(lambda: len(it.ready()) == 3)
    assert it.process.poll() is None
    assert processes.is_alive(before[1])
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert not any(map(processes.is_alive, it.ready()))


def test_ignored_signals_are_not_ignored_by_the_children(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(f"supervise(Child('a', python({READY + SLEEP!r})))")
    eventually(lambda: len(it.ready()) == 1)

    os.kill(it.ready()[0], signal.SIGUSR2)

    eventually(lambda: len(it.ready()) == 2)


def test_children_end_when_the_supervisor_is_killed(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(f"supervise(*[Child(name, python({READY + SLEEP!r})) for name in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    it.send_signal(signal.SIGKILL)
    eventually(lambda: not any(map(processes.is_alive, it.ready())))


def test_exception_in_tick_stops_all_children_and_the_supervisor(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
def tick():
    if len(os.listdir(os.environ["FOLDER"])) == 3:
        raise ChildKeepsFailing("the database is gone")
supervise(Child("web", python({READY + SLEEP!r})), tick=tick)
"""
    )
    assert it.outcome() == "cannot continue: the database is gone\n"
    (child,) = it.ready()
    assert not processes.is_alive(child)


def test_an_exception_in_a_child_is_reported(supervised: Callable[[str], Supervised]) -> None:
    it = supervised('supervise(Child("web", python("raise ValueError(\'broken\')"), failures_allowed=0))')
    assert it.outcome() == "cannot continue: the web keeps dying: exit status 1\n"
    assert it.stderr.endswith("ValueError: broken\n")


def test_a_child_handles_signals_like_a_new_process(supervised: Callable[[str], Supervised]) -> None:
    show = """
import signal
handlers = {name: signal.getsignal(getattr(signal, name)) for name in ("SIGTERM", "SIGHUP", "SIGCHLD", "SIGUSR1")}
print({name: handler.name for name, handler in handlers.items()})
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.set_wakeup_fd(-1))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), flush=True)
raise SystemExit(3)
"""
    it = supervised(f"supervise(Child('web', python({show!r}), failures_allowed=0))")
    assert it.outcome() == (
        "{'SIGTERM': 'SIG_DFL', 'SIGHUP': 'SIG_DFL', 'SIGCHLD': 'SIG_DFL', 'SIGUSR1': 'SIG_DFL'}\n"
        "True -1\n"
        "set()\n"
        "cannot continue: the web keeps dying: exit status 3\n"
    )


FAILING_FORK = """
import errno
fork = os.fork
def failing_fork():
    # The first two files are its outputs.
    if len(os.listdir(os.environ["FOLDER"])) < 4 or os.path.exists(f"{os.environ['FOLDER']}/allowed"):
        return fork()
    open(f"{os.environ['FOLDER']}/refused-{len(os.listdir('/dev/fd'))}", "w").close()
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
os.fork = failing_fork
child.FORK_DELAY_SECONDS = supervisor.TICK_SECONDS = 0.05
"""
REFUSED = "Cannot start the drainer: Resource temporarily unavailable. Trying again in 0.1 s."


def drainer_that_cannot_be_restarted(supervised: Callable[[str], Supervised]) -> Supervised:
    """The supervisor, after several attempts to start one of two children again."""
    it = supervised(f"{FAILING_FORK}supervise(*[Child('drainer', python({READY + SLEEP!r})) for _ in 'ab'])")
    eventually(lambda: len(it.ready()) == 2)
    os.kill(it.ready()[0], signal.SIGKILL)
    eventually(lambda: it.stderr.count(REFUSED) >= 5)
    return it


def test_a_child_is_started_again_once_the_system_allows_the_fork(
    supervised: Callable[[str], Supervised],
) -> None:
    it = drainer_that_cannot_be_restarted(supervised)
    # The number of open files did not grow with each attempt. The first one still has those of the dead process.
    assert len(list(it.folder.glob("refused-*"))) <= 2
    (it.folder / "allowed").touch()
    eventually(lambda: len(it.ready()) == 3)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert not any(map(processes.is_alive, it.ready()))


def test_the_supervisor_stops_while_a_child_cannot_be_started(
    supervised: Callable[[str], Supervised],
) -> None:
    it = drainer_that_cannot_be_restarted(supervised)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert "does not stop" not in it.stderr
    assert not any(map(processes.is_alive, it.ready()))


def test_a_child_does_not_inherit_the_hooks_of_a_command(supervised: Callable[[str], Supervised]) -> None:
    show = """
import sys
print(sys.unraisablehook is sys.__unraisablehook__, sys.excepthook is sys.__excepthook__, flush=True)
raise SystemExit(3)
"""
    it = supervised(
        f"""
from shortener_project.running.termination import end_on_sigterm
end_on_sigterm()
supervise(Child('web', python({show!r}), failures_allowed=0))
"""
    )
    assert it.outcome() == "True True\ncannot continue: the web keeps dying: exit status 3\n"


def test_a_child_leads_a_session_of_its_own(supervised: Callable[[str], Supervised]) -> None:
    show = "import os; print(os.getsid(0) == os.getpid() == os.getpgrp(), flush=True); raise SystemExit(3)"
    it = supervised(f"supervise(Child('web', python({show!r}), failures_allowed=0))")
    assert it.outcome() == "True\ncannot continue: the web keeps dying: exit status 3\n"
