"""A real PgBouncer in front of a test database."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg.conninfo

from testing.programs import program
from testing.service.hosts import make_folder
from testing.service.running import eventually, free_port, listens


@contextmanager
def pgbouncer(url: str, *, mode: str) -> Iterator[str]:
    """Yields the URL of this database through PgBouncer."""
    parameters = psycopg.conninfo.conninfo_to_dict(url)
    folder, port = make_folder(), free_port()
    server = " ".join(
        f"{name}='{parameters[name]}'"
        for name in ("host", "port", "user", "password", "dbname")
        if name in parameters
    )
    (folder / "ini").write_text(
        f"[databases]\nshortener = {server}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = {mode}\ndefault_pool_size = 30\nignore_startup_parameters = options\n"
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program("pgbouncer"), "--quiet", str(folder / "ini")],
            stderr=log,
            user=_account(Path(str(parameters["host"]))) if os.geteuid() == 0 else None,
        )
    try:
        eventually(lambda: process.poll() is not None or listens(port))
        assert process.poll() is None, (folder / "log").read_text()
        yield f"postgres://anybody@127.0.0.1:{port}/shortener"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def _account(host: Path) -> int:
    """PgBouncer refuses to run as root, and only the owner may enter the folder of its socket."""
    return host.stat().st_uid if host.is_dir() else pwd.getpwnam("nobody").pw_uid
