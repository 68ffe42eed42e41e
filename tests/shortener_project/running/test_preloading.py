from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testing.service.running import DEADLINE, REPOSITORY

# The thread sends the signal twice in the middle of its imports: before and while the block waits for them at its end.
# Then it gives the main thread half a second to leave too early.
PROGRAM = """
import os, signal, sys, threading
from shortener_project.running.preloading import preloading
from shortener_project.running.commands import end_on_sigterm

end_on_sigterm()
waits, is_interrupted, has_left = threading.Event(), threading.Event(), threading.Event()

class Interruption:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "shortener_project.wsgi":
            waits.wait()
            os.kill(os.getpid(), signal.{name})
            is_interrupted.wait()
            os.kill(os.getpid(), signal.{name})
            has_left.wait(0.5)
            print("imported", flush=True)

sys.meta_path.insert(0, Interruption)
try:
    with preloading() as wait_for_imports:
        try:
            waits.set()
            wait_for_imports()
        finally:
            is_interrupted.set()
finally:
    print("left", flush=True)
    has_left.set()
"""


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", -2)])
@pytest.mark.slow
def test_signals_during_the_imports_end_the_process_after_them(
    name: str, status: int, tmp_path: Path
) -> None:
    """Otherwise, the end of the interpreter and the imports could wait for each other forever."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{name}", name)],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "VAR_DIR": str(tmp_path),
            "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert (ended.returncode, ended.stdout) == (status, "imported\nleft\n")
