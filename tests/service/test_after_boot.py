"""The tests of code that reads the machine's clocks pass seconds after it booted: they run in a time namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.service.fixtures import make_empty_database as make_empty_database

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
READERS = ("common/host", "links/destinations", "links/test_gaps_in_notifications.py", "fastlane/warm_start")
UPTIME_SECONDS = 2


def just_booted() -> list[str]:
    offsets = {
        f"--{name}": UPTIME_SECONDS - int(time.clock_gettime(clock))
        for name, clock in (("monotonic", time.CLOCK_MONOTONIC), ("boottime", time.CLOCK_BOOTTIME))
    }
    unshare = shutil.which("unshare")
    command = [
        str(unshare),
        "--time",
        "--fork",
        *(f"{option}={offset}" for option, offset in offsets.items()),
    ]
    if unshare is None or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("NOT TESTED: only root can create a time namespace, with util-linux 2.36 or newer.")
    return command


def test_nothing_expects_a_machine_that_booted_minutes_ago(make_empty_database: Callable[[], str]) -> None:
    files = [TESTS / reader for reader in READERS]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [
            *just_booted(),
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            *files,
        ],
        cwd=TESTS.parent,
        env=environment | {"DATABASE_URL": make_empty_database()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
