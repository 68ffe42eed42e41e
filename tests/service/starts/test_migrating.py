"""The fork that migrates: how it starts, and what happens when it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from testing.polling import DEADLINE, eventually
from testing.service import processes
from testing.service.hosts import SECRET_KEY
from testing.service.running import REPOSITORY, Service

pytestmark = pytest.mark.slow

PRELUDE = """
import errno, os, signal
from functools import partial
import django
django.setup()
from shortener_project.running import preparation
from shortener_project.running.commands import end_on_sigterm
fork = os.fork
"""
FAILURES = {
    "exit status 1": "preparation.migrate = lambda: 1 / 0",
    "killed by SIGKILL": "preparation.migrate = lambda: os.kill(os.getpid(), signal.SIGKILL)",
    "Resource temporarily unavailable": """
def refuse():
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
os.fork = refuse
""",
}
PREPARE = """
preparation.prepare_database(run_migrations=partial(preparation.migrate_in_fork, lambda: None))
print("prepared")
"""
INTERRUPT = """
def fork_and_interrupt():
    pid = fork()
    if pid:
        print(pid, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
    return pid
os.fork = fork_and_interrupt
preparation.migrate = signal.pause
end_on_sigterm()
preparation.migrate_in_fork(lambda: None)
"""


def run(program: str, url: str, var_dir: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + program],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "DATABASE_URL": url,
            "SECRET_KEY": SECRET_KEY,
            "VAR_DIR": str(var_dir),
        },
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


@pytest.mark.parametrize("failure", FAILURES)
def test_a_start_repeats_what_the_fork_has_not_done_and_says_so_once(
    failure: str, make_unfinished_database: Callable[[], str], tmp_path: Path
) -> None:
    done = run(FAILURES[failure] + PREPARE, make_unfinished_database(), tmp_path)
    assert (done.returncode, done.stdout) == (0, "prepared\n"), done.stderr
    [line] = done.stderr.splitlines()
    assert line.endswith(
        f"The migration of the database failed in a process of its own: {failure}. Repeating it in this one."
    )


def test_a_signal_during_the_fork_also_stops_the_fork(tmp_path: Path) -> None:
    ended = run(INTERRUPT, "postgres://nobody@127.0.0.1:1/none", tmp_path)
    assert (ended.returncode, ended.stderr) == (143, "")
    assert not processes.is_alive(int(ended.stdout))


def test_the_fork_has_none_of_the_sockets_of_the_service(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    """Otherwise clients could connect to a service that has stopped."""
    url = make_empty_database()
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as observer:
        # The migration that creates this table waits for the end of the transaction.
        holder.execute("CREATE TABLE django_content_type ()")
        service.launch()
        waiting = (
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        eventually(lambda: observer.execute(waiting).fetchone() is not None)
        [fork] = processes.children(service.process.pid, "migrate")
        assert len(processes.sockets(service.process.pid)) >= 2
        assert processes.sockets(service.process.pid) & processes.sockets(fork) == set()
        assert service.stop() == 143
