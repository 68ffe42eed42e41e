"""A separate database for benchmarks, and settings that point to it."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from local_postgres import EmbeddedPostgres

PROJECT_DIR = Path(__file__).resolve().parents[2]
BASE_URL = "http://127.0.0.1:8000"
SECRET_KEY = "only-for-benchmarks-" + "x" * 40


@contextmanager
def database(size: str, loaded: str | None = None) -> Iterator[None]:
    """Start a PostgreSQL with production settings and point Django's settings at one of its databases.

    With VAR_DIR set, the cluster is in its subfolder ``bench`` and is kept, so that the next run need not load the
    data again: the database is named after its content, or is ``loaded``. The cluster is separate from the service's.
    """
    given_var_dir = os.environ.get("VAR_DIR")
    var_dir = (
        Path(given_var_dir, "bench") if given_var_dir else Path(tempfile.mkdtemp(prefix="shortener-bench-"))
    )
    var_dir.mkdir(parents=True, exist_ok=True)
    var_dir.chmod(0o755)  # A server that drops privileges must reach its data.
    server = EmbeddedPostgres(var_dir, database=loaded or f"bench_{size}_{_fingerprint()}")
    lease = server.acquire()
    try:
        point_at(server.url, var_dir)
        yield
    finally:
        lease.release()
        if not given_var_dir:
            shutil.rmtree(var_dir, ignore_errors=True)


def point_at(url: str, var_dir: Path) -> None:
    """Make this database that of Django's settings, in this process and in those that it starts."""
    os.environ |= {
        "VAR_DIR": str(var_dir),
        "DATABASE_URL": url,
        "SECRET_KEY": SECRET_KEY,
        "BASE_URL": BASE_URL,
        "LOG_LEVEL": "WARNING",
        # Requests are counted, as in production, but never reach a limit.
        **{f"RATE_LIMIT_{plan}": str(2**31 - 1) for plan in ("FREE", "PRO", "ENTERPRISE", "ANONYMOUS")},
        "UNKNOWN_CODE_LIMIT": "0",
    }


@contextmanager
def service_folder() -> Iterator[Path]:
    """A temporary folder. The settings use the embedded database of a service whose VAR_DIR is in this folder."""
    # On SIGTERM, too, stop the processes that were started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="shortener-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # Servers that drop privileges must reach their data.
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "VAR_DIR": str(folder / "service/var"),
            "LOG_LEVEL": "WARNING",
        }
        (folder / "service").mkdir()
        django.setup()
        yield folder


def _fingerprint() -> str:
    """A digest of everything that determines the content of the database."""
    digest = hashlib.sha256()
    migrations = [*PROJECT_DIR.glob("*/migrations/*.py"), *PROJECT_DIR.glob("*/migrations/sql/*.sql")]
    for path in [PROJECT_DIR / "bench/load/busy_accounts.py", *sorted(migrations)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
