"""The command line, as a separate process without DATABASE_URL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from local_postgres.layout import Layout
from shortener_project import __version__
from testing.service.running import DEADLINE, REPOSITORY


def run(var_dir: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], "VAR_DIR": str(var_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("help",),
        ("help", "serve"),
        ("create_account", "--help"),
        ("serve", "-h"),
        ("check",),
        ("diffsettings",),
    ],
    ids=" ".join,
)
def test_command_that_needs_no_database_creates_none(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert run(tmp_path, *arguments)
    assert not Layout(tmp_path).data.exists()


@pytest.mark.parametrize("argument", ["version", "--version"])
def test_version_is_the_newest_release_of_the_changelog(argument: str, tmp_path: Path) -> None:
    releases = re.findall(r"^## ([0-9.]+) - ", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert run(tmp_path, argument) == f"{releases[0]}\n" == f"{__version__}\n"
    assert list(tmp_path.iterdir()) == []


def test_the_settings_of_the_command_line_apply(tmp_path: Path) -> None:
    (tmp_path / "other_settings.py").write_text(
        "from shortener_project.settings import *\nBRAND_NAME = 'Other'\n"
    )
    options = ("--settings=other_settings", f"--pythonpath={tmp_path}")
    assert "BRAND_NAME = 'Other'" in run(tmp_path / "var", "diffsettings", *options)
