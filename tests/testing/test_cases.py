"""The cases of a test share its fixtures, and each that fails is reported with its arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from accounts.models import User
from testing.cases import for_each
from testing.service.running import DEADLINE, REPOSITORY

TESTS = """
from itertools import count

import pytest

from testing.cases import for_each

made = count(1)


@pytest.fixture
def number():
    return next(made)


@for_each(("outer", "size"), [("a", 1), ("b", 2)], ids=["short", "long"])
@for_each("inner", [3, 4])
def test_some(number, outer, size, inner):
    assert number == 1
    assert (outer, inner) == ("b", 3)


def test_another(number):
    assert number == 2
"""
INI = """[pytest]
DJANGO_SETTINGS_MODULE = shortener_project.settings
addopts = -p pytest_django.plugin -p pytest_timeout
timeout = 300
"""


@pytest.fixture
def output(tmp_path: Path) -> list[str]:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(INI)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--color=no"],
        cwd=tmp_path,
        # The other plugins take longer to load than these tests take.
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    ).stdout.splitlines()


def test_each_case_that_fails_is_reported_with_all_its_arguments(output: list[str]) -> None:
    assert [line.partition(" test_some.py")[0] for line in output if line.startswith("SUBFAILED")] == [
        "SUBFAILED[short] (outer='a', size=1, inner=3)",
        "SUBFAILED[short] (outer='a', size=1, inner=4)",
        "SUBFAILED[long] (outer='b', size=2, inner=4)",
    ]
    assert output[-1].startswith("4 failed, 1 passed, 1 subtests passed in ")


@for_each("number", [1, 2])
def test_what_a_case_writes_is_rolled_back(db: None, number: int) -> None:
    assert not User.objects.exists()
    User.objects.create(email=f"somebody{number}@example.com")
