"""A database of the benchmarks' own, and the service on top of it in this process."""

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

from shortener_project.embedded_postgres import EmbeddedPostgres

PROJECT_DIR = Path(__file__).resolve().parent.parent
BASE_URL = "http://127.0.0.1:8000"
SECRET_KEY = "only-for-benchmarks-" + "x" * 40


@contextmanager
def database(size: str) -> Iterator[None]:
    """Starts a server as production has it, and points the settings at a database of it.

    With VAR_DIR set, its subfolder ``bench`` is used and kept, so that a second run need not load again: the
    database is named after what it holds. A cluster of its own, so never the service's data.
    """
    kept = os.environ.get("VAR_DIR")
    var_dir = Path(kept, "bench") if kept else Path(tempfile.mkdtemp(prefix="shortener-bench-"))
    var_dir.mkdir(parents=True, exist_ok=True)
    var_dir.chmod(0o755)  # A server that drops privileges must reach its data.
    server = EmbeddedPostgres(var_dir, database=f"bench_{size}_{_fingerprint()}")
    lease = server.acquire()
    try:
        os.environ |= {
            "VAR_DIR": str(var_dir),
            "DATABASE_URL": server.url,
            "SECRET_KEY": SECRET_KEY,
            "BASE_URL": BASE_URL,
            "LOG_LEVEL": "WARNING",
            # Counted, as in production, and never reached.
            **{f"RATE_LIMIT_{plan}": str(2**31 - 1) for plan in ("FREE", "PRO", "ENTERPRISE", "ANONYMOUS")},
            "UNKNOWN_CODE_LIMIT": "0",
        }
        yield
    finally:
        lease.release()
        if not kept:
            shutil.rmtree(var_dir, ignore_errors=True)


@contextmanager
def home() -> Iterator[Path]:
    """A folder to be removed. The settings are on the embedded database of a service that has its VAR_DIR in it."""
    # What is started must be ended also when this is told to stop.
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
    """Of everything that decides what is in the database."""
    digest = hashlib.sha256()
    for path in [PROJECT_DIR / "bench/load.py", *sorted(PROJECT_DIR.glob("*/migrations/*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
