"""A failed test gets a second attempt, and only a test that then passes every time is forgiven."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from testing.second_attempt import ATTEMPTS, MOST

REPOSITORY = Path(__file__).parents[2]
# The option `--all` exists only in the project's own tests.
CONFTEST = "def pytest_addoption(parser): parser.addoption('--all', action='store_true')\n"
PASSES = "def test_passes(): pass\n"
# Counts its runs in a file. `{passing}` are the runs that pass.
COUNTED = """
from pathlib import Path

def test_{name}():
    runs = Path("{name}")
    number = int(runs.read_text()) + 1 if runs.exists() else 1
    runs.write_text(str(number))
    assert number in {passing}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p xdist -p randomly\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    return tmp_path


def run(folder: Path, *tests: str, arguments: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text("".join([PASSES, *tests]))
    return subprocess.run(
        [sys.executable, "-m", "testing.second_attempt", *arguments],
        cwd=folder,
        # The other plugins take longer to load than these tests take.
        env={"PYTHONPATH": str(REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def counted(name: str, passing: range) -> str:
    return COUNTED.format(name=name, passing=passing)


def test_a_run_without_failures_is_not_repeated(folder: Path) -> None:
    result = run(folder, counted("once", range(1, 2)))

    assert result.returncode == 0, result.stdout
    assert (folder / "once").read_text() == "1"
    assert "UNSTABLE" not in result.stdout


def test_an_unstable_test_is_named(folder: Path) -> None:
    result = run(folder, counted("sometimes", range(2, 9)))

    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith("Find the cause:\n  test_some.py::test_sometimes\n")
    assert (folder / "sometimes").read_text() == str(1 + ATTEMPTS)


@pytest.mark.parametrize("passes", range(ATTEMPTS))
def test_a_test_that_fails_again_fails_the_run(folder: Path, passes: int) -> None:
    result = run(folder, counted("again", range(2, 2 + passes)))

    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert (folder / "again").read_text() == str(1 + passes + 1)
    assert "UNSTABLE" not in result.stdout


def test_many_failures_get_no_second_attempt(folder: Path) -> None:
    names = [f"number_{number}" for number in range(MOST + 1)]
    result = run(folder, *(counted(name, range(2, 9)) for name in names))

    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert {name: (folder / name).read_text() for name in names} == dict.fromkeys(names, "1")


def test_a_file_that_cannot_be_read_fails_the_run(folder: Path) -> None:
    result = run(folder, "raise ValueError\n")

    assert result.returncode == pytest.ExitCode.INTERRUPTED
    assert "Attempt" not in result.stdout


def test_a_crash_fails_the_run(folder: Path) -> None:
    crash = """
import os
from pathlib import Path

def test_crashes():
    if not Path("crashed").exists():
        Path("crashed").touch()
        os.abort()
"""
    result = run(folder, crash, arguments=["--numprocesses", "1"])

    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert result.stdout.endswith("A process of the tests crashed: there is no second attempt.\n")


def test_a_test_that_is_skipped_later_fails_the_run(folder: Path) -> None:
    skipped = """
from pathlib import Path

import pytest

def test_fails_and_skips():
    if Path("failed").exists():
        pytest.skip()
    Path("failed").touch()
    assert False
"""
    result = run(folder, skipped)

    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert result.stdout.endswith("A skipped test has not passed.\n")
