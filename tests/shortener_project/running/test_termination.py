from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from testing.service.running import DEADLINE, REPOSITORY

BEGINNING = """
import os, signal, sys, time, weakref
number = signal.SIGTERM
from shortener_project.running.commands import end_on_sigterm
end_on_sigterm()
class Leaf:
    pass
def ask_for_the_end(*_):
    os.kill(os.getpid(), number)
"""
PLACES = {
    "anywhere": "ask_for_the_end()",
    "while a class is created": "type('A', (), {'leaf': type('B', (), {'__set_name__': ask_for_the_end})()})",
    "in a finalizer": "Leaf.__del__ = ask_for_the_end; Leaf()",
    "in a callback of a weak reference": "leaf = Leaf(); reference = weakref.ref(leaf, ask_for_the_end); del leaf",
}


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )


@pytest.mark.parametrize("place", [pytest.param(code, id=name) for name, code in PLACES.items()])
def test_sigterm_ends_a_command_anywhere_and_runs_its_cleanup(place: str) -> None:
    tidies = f"""
try:
    {place}
    time.sleep({2 * DEADLINE})
finally:
    print("tidied")
"""
    ended = run(BEGINNING + tidies)
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "tidied\n", "")


@pytest.mark.parametrize("place", PLACES)
def test_sigint_interrupts_a_command_anywhere_and_runs_its_cleanup(place: str) -> None:
    tidies = f"""
number = signal.SIGINT
try:
    {PLACES[place]}
    time.sleep({2 * DEADLINE})
finally:
    print("tidied")
"""
    ended = run(BEGINNING + tidies)
    # While a class is created, Python 3.11 hides that it was a signal.
    hidden = {128 + signal.SIGINT} if place == "while a class is created" else set()
    assert ended.returncode in {-signal.SIGINT, *hidden}
    assert ended.stdout == "tidied\n"


def test_sigterm_while_the_interpreter_ends_does_not_look_like_a_crash() -> None:
    ends = "import atexit; atexit.register(ask_for_the_end)"
    lingers = "Leaf.__del__ = lambda _: time.sleep(0.1); leaf = Leaf()"
    ended = run(f"{BEGINNING}\n{ends}; {lingers}")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_other_unraisable_exceptions_are_reported() -> None:
    ended = run(f"{BEGINNING}\nLeaf.__del__ = lambda leaf: 1 / 0\nLeaf()")
    assert ended.returncode == 0
    assert "ZeroDivisionError: division by zero" in ended.stderr
