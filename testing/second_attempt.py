"""Run pytest; repeat the few tests that fail, alone, and fail unless each passes several times in a row.

    python -m testing.second_attempt ARGUMENTS_OF_PYTEST

Hundreds of tests kill, stop and flood real processes on a machine that does other work. A run that fails for one
improbable order of events says little about the change that it checks. The run always names the unstable tests: each
has a defect, or reveals one of the service, that somebody has to find, because a defect that shows in few runs passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

# More failures have one cause, which is not improbable.
MOST = 3
ATTEMPTS = 3
_FAILURES = "v/cache/lastfailed"
_CRASH = "second_attempt/crash"


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: object, sched: object) -> None:
    """A process of the tests has crashed, for example in compiled code. That has no second attempt."""
    sched.config.cache.set(_CRASH, crashitem)


def main(arguments: Sequence[str]) -> int:
    """Return the exit status of pytest, or 0 if all tests that failed are unstable."""
    with tempfile.TemporaryDirectory() as folder:
        status = _run(folder, arguments)
        if status != pytest.ExitCode.TESTS_FAILED:
            return status
        if Path(folder, "v", _CRASH).exists():
            print("A process of the tests crashed: there is no second attempt.")
            return status
        failed = sorted(json.loads(Path(folder, _FAILURES).read_text()))
        if len(failed) > MOST:
            print(f"{len(failed)} tests failed: too many for a second attempt.")
            return status
        for attempt in range(1, ATTEMPTS + 1):
            print(f"\nAttempt {attempt} of {ATTEMPTS} with the tests that failed, alone:", flush=True)
            results = Path(folder, "results.xml")
            if again := _run(folder, ["--randomly-seed=last", f"--junitxml={results}", *failed]):
                return again
            if ET.parse(results).find("testsuite").get("skipped") != "0":  # noqa: S314 # a report of our own tests
                print("A skipped test has not passed.")
                return status
    print(
        f"\nUNSTABLE: failed at first, and then passed {ATTEMPTS} times alone. Find the cause:",
        *failed,
        sep="\n  ",
    )
    return 0


def _run(folder: str, arguments: Sequence[str]) -> int:
    """``folder``: the cache of pytest, which has the failures and the seed of the random order."""
    own = ["-p", "testing.second_attempt", "--override-ini", f"cache_dir={folder}"]
    return subprocess.run([sys.executable, "-m", "pytest", *own, *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
