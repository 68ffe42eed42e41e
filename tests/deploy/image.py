"""The files of the image, and containers made of them without a container engine."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from local_postgres.binaries import DEBIAN
from testing.programs import program
from testing.service.hosts import SECRET_KEY, make_folder
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.cut_off import dropping_proxy
from testing.service.running import REPOSITORY, Service

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
(ACCOUNT,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
(WORKDIR,) = set(re.findall(r"^WORKDIR (\S+)$", DOCKERFILE, re.MULTILINE))
(CLIENTS,) = re.findall(r"^ENV PATH=/venv/bin:(\S+):\$PATH$", DOCKERFILE, re.MULTILINE)
# The command that copies PostgreSQL's client programs out of the packages in /embedded.
(COPY_CLIENTS,) = re.findall(r"^RUN (install -d /opt/postgresql(?:.*\\\n)*.*)$", DOCKERFILE, re.MULTILINE)
(COMPILE,) = re.findall(r"^RUN /venv/bin/python (-m compileall .*) /srv$", DOCKERFILE, re.MULTILINE)
# The command that builds the compiled event loop, with a Python that has Cython.
(ACCELERATE,) = re.findall(r"\|\| /accelerate/bin/python (-m \S+)$", DOCKERFILE, re.MULTILINE)


def ignored(path: str) -> bool:
    """Whether .dockerignore excludes it: the last rule that matches decides, and ! includes. Patterns apply to the
    top folder unless they begin with **/.
    """
    rules = [
        line for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] not in ("", "#")
    ]
    parts = path.split("/")
    is_ignored = False
    for rule in rules:
        pattern = rule.removeprefix("!")
        beginning = "/".join(parts[: pattern.count("/") + 1])
        if fnmatch.fnmatch(beginning, pattern) or (pattern.startswith("**/") and pattern[3:] in parts):
            is_ignored = not rule.startswith("!")
    return is_ignored


def copy_context(target: Path) -> None:
    """Copies the files under version control that `COPY . .` puts into the image."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if not ignored(name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, target / name)


def distributions(requirements: str) -> list[str]:
    """The names of the packages that a file pins."""
    return re.findall(r"^([a-z0-9._-]+)==", (REPOSITORY / requirements).read_text(), re.MULTILINE)


def install(requirements: str, target: Path) -> None:
    """Copies the installed packages that a file pins, as pip would install them."""
    for name in distributions(requirements):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # For other systems or versions of Python.
        for entry in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            source, copy = Path(str(package.locate_file(entry))), target / entry
            if source.is_dir():
                shutil.copytree(source, copy, copy_function=_link_or_copy, dirs_exist_ok=True)
            elif source.exists():
                _link_or_copy(source, copy)


def _link_or_copy(source: str | Path, copy: str | Path) -> None:
    try:
        os.link(source, copy)
    except OSError:
        # Another file system. Keep the time, without which the bytecode is invalid.
        shutil.copy2(source, copy)


class Image(NamedTuple):
    """What the Dockerfile puts into the image."""

    srv: Path
    packages: Path
    postgresql: Path


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    folder = make_folder()
    image = Image(*(folder / name for name in Image._fields))
    for path in image:
        path.mkdir()
    copy_context(image.srv)
    if find_spec("Cython") and any(REPOSITORY.glob("fastlane/compiled/*.so")):
        # Without optimisation: the compiler takes half the time. The tests of the loop itself use the optimised build.
        subprocess.run([sys.executable, *ACCELERATE.split(), "-O0"], cwd=image.srv, check=True)
    subprocess.run([sys.executable, *COMPILE.split(), image.srv], check=True)
    install("requirements.txt", image.packages)
    install("requirements-embedded.txt", folder / "embedded")
    command = COPY_CLIENTS.replace("/embedded/", f"{folder}/embedded/").replace(
        "/opt/postgresql", str(image.postgresql)
    )
    subprocess.run(["sh", "-c", command], check=True)
    yield image
    shutil.rmtree(folder)


def container(image: Image, var: Path) -> list[str]:
    """A file system where only /tmp, /dev/shm and the volume are writable."""
    # The machine's own PostgreSQL is not in the image.
    hidden = ["--tmpfs", str(DEBIAN)] if DEBIAN.exists() else []
    return [
        *(program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *hidden,
        *("--tmpfs", "/tmp", "--perms", "1777", "--tmpfs", "/dev/shm"),
        # Python may be in a folder that only root can read.
        *("--tmpfs", "/run", "--ro-bind", sys.base_prefix, "/run/python"),
        *("--ro-bind", str(image.packages), "/run/packages", "--tmpfs", "/opt"),
        *("--ro-bind", str(image.postgresql), "/opt/postgresql"),
        *("--ro-bind", str(image.srv), WORKDIR, "--ro-bind", str(var.parent), str(var.parent)),
        *("--bind", str(var), str(var)),
        *("--ro-bind", str(var.parent / "passwd"), "/etc/passwd", "--chdir", WORKDIR),
        *("--unshare-pid", "--die-with-parent", "--setenv", "PYTHONPATH", "/run/packages"),
        # Where a Python with a shared library finds that library.
        *("--setenv", "LD_LIBRARY_PATH", "/run/python/lib"),
        *("--setenv", "PYTHONDONTWRITEBYTECODE", "1"),
        *("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"),
        *("--no-new-privs", "--bounding-set=-all", "/run/python/bin/python3"),
    ]


@pytest.fixture
def make_container(image: Image) -> Iterator[Callable[..., Service]]:
    """Factory of services in a container, each with an empty volume."""
    with ExitStack() as stack:

        def make(**environment: str) -> Service:
            folder = make_folder()
            environment["PATH"] = f"{CLIENTS}:/usr/bin:/bin"
            service = Service(folder, python=container(image, folder / "var"), **environment)
            stack.callback(service.end)
            service.var_dir.mkdir(mode=0o700)
            os.chown(service.var_dir, int(ACCOUNT), int(ACCOUNT))
            known = Path("/etc/passwd").read_text()
            (folder / "passwd").write_text(f"{known}shortener:x:{ACCOUNT}:{ACCOUNT}::/:/usr/sbin/nologin\n")
            return service

        yield make


@pytest.fixture
def service(
    make_container: Callable[..., Service], make_empty_database: Callable[[], str]
) -> Iterator[Service]:
    """Run the service with a database at an address that the image's account can reach."""
    with dropping_proxy(make_empty_database()) as proxy:
        yield make_container(DATABASE_URL=proxy.url, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
