from __future__ import annotations

import subprocess
import sys

import pytest

from testing.service.running import DEADLINE, REPOSITORY

# The thread interrupts the main thread in the middle of its imports, and then waits whether that leaves them alone.
PROGRAM = """
import os, signal, sys, threading
from shortener_project.running.preloading import preloading
from shortener_project.running.termination import end_on_sigterm

end_on_sigterm()
interrupted, has_left = threading.Event(), threading.Event()

class Interruption:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "shortener_project.wsgi":
            os.kill(os.getpid(), signal.{name})
            interrupted.wait()
            has_left.wait(0.5)
            print("imported", flush=True)

sys.meta_path.insert(0, Interruption)
try:
    with preloading() as wait_for_imports:
        try:
            wait_for_imports()
        finally:
            interrupted.set()
finally:
    has_left.set()
    print("left", flush=True)
"""


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", -2)])
def test_a_signal_during_the_imports_ends_the_process_after_them(name: str, status: int) -> None:
    """Otherwise, the end of the interpreter and the imports could wait for each other forever."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{name}", name)],
        cwd=REPOSITORY,
        env={"DJANGO_SETTINGS_MODULE": "shortener_project.settings"},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert (ended.returncode, ended.stdout) == (status, "imported\nleft\n")
