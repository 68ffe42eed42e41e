"""Loaded before Django's settings are: points them at a throw-away database and a throw-away VAR_DIR."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from local_postgres import EmbeddedPostgres
from shortener_project.configuration.variables import GROUPS
from testing.service.limits import LIMITS_OFF


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and those that it started, unless it has ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# The developer's environment must not affect the tests. With these two, the caller chooses what is tested.
for group in GROUPS:
    for variable in group.variables:
        if variable.name not in {"DATABASE_URL", "FAST_LANE"}:
            os.environ.pop(variable.name, None)
os.environ |= LIMITS_OFF
# Without bytecode, each worker of pytest-xdist and each process that a test starts would compile its modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A test is one transaction, however long it thinks.
os.environ["IDLE_TRANSACTION_TIMEOUT_MS"] = "0"

VAR_DIR = Path(tempfile.mkdtemp(prefix="shortener-tests-"))
# A server that drops privileges must reach its data.
VAR_DIR.chmod(0o755)
os.environ["VAR_DIR"] = str(VAR_DIR)
os.environ["BASE_URL"] = "http://sho.rt"
os.environ["SECRET_KEY"] = "only-for-tests-" + "x" * 50

# The workers of pytest-xdist inherit the address: all use one server, each with a database of its own.
if "DATABASE_URL" not in os.environ:
    # Tests with hundreds of connections may run at the same time, and a busy server ends closed ones late.
    # Nobody needs its data after a crash.
    options = {"fsync": "off", "full_page_writes": "off", "max_connections": "1000"}
    server = EmbeddedPostgres(VAR_DIR, options=options)
    lease = server.acquire()
    os.environ["DATABASE_URL"] = server.url
    atexit.register(shutil.rmtree, VAR_DIR, ignore_errors=True)
    atexit.register(lease.release)
    # It is ready, or almost, when the tests are collected.
    template = subprocess.Popen(
        [sys.executable, "-m", "testing.service.postgresql.databases"],
        cwd=Path(__file__).parents[1],
        # Its temporary files, too, are deleted if it does not finish.
        env=os.environ | {"TMPDIR": str(VAR_DIR)},
        start_new_session=True,
    )
    atexit.register(end_group, template)
else:
    atexit.register(shutil.rmtree, VAR_DIR, ignore_errors=True)
