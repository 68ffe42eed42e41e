"""The image's promises without a container engine: the files that go into it, read-only, run as its account.

`tests/deploy/try_image` builds the very image, where Debian's packages can be had.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import program
from tests.service.hosts import make_folder
from tests.service.running import REPOSITORY, Service

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
(ACCOUNT,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
(WORKDIR,) = set(re.findall(r"^WORKDIR (\S+)$", DOCKERFILE, re.MULTILINE))

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can become the image's account."),
    pytest.mark.timeout(300),
]


def ignored(path: str) -> bool:
    """By .dockerignore, whose patterns know nothing of what lies deeper unless they say so."""
    rules = [
        line for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] not in ("", "#")
    ]
    parts = path.split("/")
    return any(
        fnmatch.fnmatch(parts[0], rule) or (rule.startswith("**/") and rule[3:] in parts) for rule in rules
    )


def copy_context(target: Path) -> None:
    """What `COPY . .` puts into the image, of what is under version control."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if not ignored(name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, target / name)


def container(srv: Path, var: Path) -> list[str]:
    """A machine of which nothing can be written but /tmp, /dev/shm and the volume."""
    packages = [Path(path) for path in site.getsitepackages()]
    return [
        *(program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/tmp", "--perms", "1777", "--tmpfs", "/dev/shm"),
        # Python and its packages may lie where only root can look.
        *("--tmpfs", "/run", "--ro-bind", sys.base_prefix, "/run/python"),
        *(word for each in packages for word in ("--ro-bind", str(each), f"/run/{each.name}")),
        *("--ro-bind", str(srv), WORKDIR, "--ro-bind", str(var.parent), str(var.parent)),
        *("--bind", str(var), str(var)),
        *(
            "--ro-bind",
            str(var.parent / "passwd"),
            "/etc/passwd",
            "--chdir",
            WORKDIR,
            "--unshare-pid",
            "--die-with-parent",
        ),
        *("--setenv", "PYTHONPATH", ":".join(f"/run/{each.name}" for each in packages)),
        # Where a Python that was built with a library of its own finds it.
        *("--setenv", "LD_LIBRARY_PATH", "/run/python/lib"),
        *("--setenv", "PYTHONDONTWRITEBYTECODE", "1"),
        *("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"),
        *("--no-new-privs", "--bounding-set=-all", "/run/python/bin/python3"),
    ]


@pytest.fixture
def service() -> Iterator[Service]:
    folder, srv = make_folder(), make_folder()
    copy_context(srv)
    service = Service(folder, python=container(srv, folder / "var"))
    service.var_dir.mkdir(mode=0o700)
    os.chown(service.var_dir, int(ACCOUNT), int(ACCOUNT))
    known = Path("/etc/passwd").read_text()
    (folder / "passwd").write_text(f"{known}shortener:x:{ACCOUNT}:{ACCOUNT}::/:/usr/sbin/nologin\n")
    try:
        yield service
    finally:
        service.end()
        shutil.rmtree(srv)


def test_the_images_files_serve_from_a_read_only_root_and_its_health_check_says_so(service: Service) -> None:
    service.start()
    link = service.create_link(service.owner.api_key)
    assert service.ask("GET", f"/{link['shortCode']}").status == 302
    assert service.ask("GET", "/api/docs").status == 200
    (command,) = re.findall(r"^ +CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    python, *rest = json.loads(command)
    assert python == "python"
    check = [sys.executable, *rest]
    environment = {"PATH": os.environ["PATH"], "PORT": str(service.port)}
    assert subprocess.run(check, env=environment, check=False).returncode == 0
    assert (
        subprocess.run(check, env={**environment, "PORT": "1"}, capture_output=True, check=False).returncode
        != 0
    )


@pytest.mark.parametrize("name", ["tests/conftest.py", ".env", ".git/config", "var/secret_key", "README.md"])
def test_what_is_no_business_of_the_image_stays_outside(name: str) -> None:
    assert ignored(name)


@pytest.mark.parametrize(
    "name", ["manage.py", "shortener_project/settings.py", "requirements.txt", "pyproject.toml"]
)
def test_what_the_service_is_made_of_goes_in(name: str) -> None:
    assert not ignored(name)
