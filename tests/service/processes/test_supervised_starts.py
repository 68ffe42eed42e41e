"""How the supervisor starts its children: what they inherit, and forks that the system refuses."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from testing.service import processes
from testing.service.running import eventually
from tests.service.processes.supervised import READY, SLEEP, Supervised
from tests.service.processes.supervised import supervised as supervised

pytestmark = pytest.mark.slow


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


def test_ctrl_c_before_a_child_has_its_own_session_is_the_supervisors(
    supervised: Callable[[str], Supervised],
) -> None:
    early = """
setsid = os.setsid
def setsid_after_ctrl_c():
    os.kill(os.getpid(), 2)
    setsid()
os.setsid = setsid_after_ctrl_c
"""
    show = "print('runs', flush=True); raise SystemExit(3)"
    it = supervised(f"{early}supervise(Child('web', python({show!r}), failures_allowed=0))")
    assert it.outcome() == "runs\ncannot continue: the web keeps dying: exit status 3\n"
    assert "Traceback" not in it.stderr


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
supervisor.FORK_DELAY_SECONDS = supervisor.TICK_SECONDS = 0.05
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
from shortener_project.running.commands import end_on_sigterm
end_on_sigterm()
supervise(Child('web', python({show!r}), failures_allowed=0))
"""
    )
    assert it.outcome() == "True True\ncannot continue: the web keeps dying: exit status 3\n"


def test_a_child_leads_a_session_of_its_own(supervised: Callable[[str], Supervised]) -> None:
    show = "import os; print(os.getsid(0) == os.getpid() == os.getpgrp(), flush=True); raise SystemExit(3)"
    it = supervised(f"supervise(Child('web', python({show!r}), failures_allowed=0))")
    assert it.outcome() == "True\ncannot continue: the web keeps dying: exit status 3\n"
