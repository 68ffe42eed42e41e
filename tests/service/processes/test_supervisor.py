"""The supervisor with small forks. It handles signals, so each test runs it in a separate process."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable

import pytest

from testing.service import processes
from testing.service.running import eventually
from tests.service.processes.supervised import READY, SLEEP, Supervised
from tests.service.processes.supervised import supervised as supervised

pytestmark = pytest.mark.slow

STRAY_SIGNALS = {
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGPIPE),
    *(signal.SIGIO, signal.SIGRTMIN, signal.SIGRTMAX),
}


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
supervisor.STABLE_SECONDS = float("inf")
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
supervisor.MAX_DELAY_SECONDS = supervisor.TICK_SECONDS = 0.1
supervise(Child("extra", python({READY + "raise SystemExit(3)"!r})))
"""
    )
    eventually(lambda: len(it.ready()) >= 6)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"


def test_stable_child_is_restarted_at_once(supervised: Callable[[str], Supervised]) -> None:
    it = supervised(
        f"""
supervisor.STABLE_SECONDS = 0.0
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


# A child that beats when it gets a signal.
BEATS = f"""
import os, signal, time
from common.host import vitals
signal.signal(signal.SIGUSR1, lambda *_: vitals.beat())
{READY}
while True: time.sleep(1000)
"""


def test_a_child_is_ended_once_the_supervisor_has_seen_no_sign_of_life_for_too_long(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
a = Child("a", python({BEATS!r}), silence_allowed=60.0)
a.start()
while not os.listdir(os.environ["FOLDER"]) or not a._vitals.beats:
    if any(name.startswith("ready") for name in os.listdir(os.environ["FOLDER"])): a.send_signal(10)
    time.sleep(0.01)
a.watch(60.0)
beats = a._vitals.beats
a.send_signal(10)
while a._vitals.beats == beats: time.sleep(0.01)
# It has shown a sign of life meanwhile.
a.watch(60.0)
a.watch(60.0)
print("runs", a.process.exitcode, a._vitals.silent_seconds)
a.watch(0.5)
a.process.join()
a.handle_exit()
print("ended", a._vitals.silent_seconds, a.process)
"""
    )
    assert it.outcome() == "runs None 60.0\nended 0.0 None\n"
    assert it.stderr == (
        "The a has shown no sign of life for 60 s. Ending it.\n"
        "The a died: killed by SIGTERM. Starting it again in 0.0 s.\n"
    )


def test_a_stopped_child_is_killed_and_its_stopped_orphans_end(
    supervised: Callable[[str], Supervised],
) -> None:
    it = supervised(
        f"""
supervisor.TICK_SECONDS = 0.1
supervisor.KILL_SECONDS = 1.0
supervise(Child("a", python({"import os; os.fork();" + READY + SLEEP!r}), silence_allowed=20.0))
"""
    )
    eventually(lambda: len(it.ready()) == 2)
    before = it.ready()
    (parent,) = processes.children(it.process.pid)
    os.killpg(parent, signal.SIGSTOP)
    eventually(lambda: not any(map(processes.is_alive, before)))
    eventually(lambda: len(it.ready()) == 4)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert it.stderr == (
        "The a has shown no sign of life for 20 s. Ending it.\n"
        "The a died: killed by SIGKILL. Starting it again in 0.0 s.\n"
    )


def test_a_host_that_stood_still_restarts_nothing(supervised: Callable[[str], Supervised]) -> None:
    beating = (
        "import time; from common.host import vitals;"
        + READY
        + "\nwhile True: vitals.beat(); time.sleep(0.01)"
    )
    it = supervised(
        f"""
supervisor.TICK_SECONDS = 0.1
supervise(
    Child("a", python({beating!r}), silence_allowed=5.0),
    tick=lambda: open(f"{{os.environ['FOLDER']}}/ticks", "a").write("."),
)
"""
    )
    ticks = it.folder / "ticks"
    eventually(lambda: it.ready() and ticks.exists())
    pids = [*it.ready(), it.process.pid]
    for pid in pids:
        before = ticks.stat().st_size
        os.kill(pid, signal.SIGSTOP)
        # The supervisor has seen the child's last sign of life when it is stopped, too.
        eventually(lambda pid=pid, before=before: pid == it.process.pid or ticks.stat().st_size > before + 2)
    stopped = time.monotonic()
    eventually(lambda: time.monotonic() > stopped + 6)
    before = ticks.stat().st_size
    for pid in reversed(pids):
        os.kill(pid, signal.SIGCONT)
        # The supervisor runs first.
        eventually(lambda before=before: ticks.stat().st_size > before)
    eventually(lambda: ticks.stat().st_size > before + 20)
    it.send_signal(signal.SIGTERM)
    assert it.outcome() == "stopped\n"
    assert it.stderr == ""
