"""The compiled loop with AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
CONVERSATIONS = 1_200


@pytest.mark.timeout(1_800)
def test_no_conversation_makes_the_compiled_loop_access_foreign_memory() -> None:
    """A tenth of `make fuzz-loops ARGS="--sanitize --count 12000"`."""
    if missing := _missing():
        if os.environ.get("CI"):
            pytest.fail(f"CI has what the sanitizers need, but: {missing}.")
        pytest.skip(f"NOT TESTED: {missing}.")
    command = [
        sys.executable,
        "-m",
        "bench.fastlane.loops",
        "--sanitize",
        "--count",
        str(CONVERSATIONS),
        "--seed",
        "1",
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{CONVERSATIONS:,} conversations, 0 with a difference"


def _missing() -> str:
    if shutil.which("gcc") is None:
        return "gcc is not installed"
    return "" if find_spec("Cython") else "Cython is not installed, see `make accelerate`"
