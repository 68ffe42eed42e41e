"""After any kill, the next start works and committed data are intact."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from local_postgres import EmbeddedPostgres, cluster
from local_postgres.account import Account
from local_postgres.layout import Layout
from local_postgres.server import exclusive

pytestmark = pytest.mark.slow

# A container without an init process does not reap: a dead postmaster remains a zombie forever.
NEVER_REAPING_APP = """
import ctypes, os, signal, sys, time
from pathlib import Path
from local_postgres import EmbeddedPostgres
PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
server = EmbeddedPostgres(Path(sys.argv[1]), options={"fsync": "off"})
server.acquire()
dead = server.pid
os.kill(dead, signal.SIGKILL)
state = lambda: Path(f"/proc/{dead}/stat").read_text().rpartition(")")[2].split()[0]
while state() != "Z":
    time.sleep(0.01)
server.ensure_running()
print(state(), server.pid != dead, server.url, flush=True)
sys.stdin.readline()
"""
GUARDED_APP = """
import sys
from pathlib import Path
from local_postgres import EmbeddedPostgres
from local_postgres.guard import guarded
server = EmbeddedPostgres(Path(sys.argv[1]), options={"fsync": "off"})
with server.acquire(), guarded(Path(sys.argv[1])):
    print(server.pid, flush=True)
    sys.stdin.readline()
"""


def is_awaited(lock: Path) -> bool:
    inode = f":{lock.stat().st_ino} "
    return any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines())


@pytest.fixture
def kill_postmaster(eventually, is_alive) -> Callable[[EmbeddedPostgres], int]:
    """Kill the postmaster, wait until it is dead, and return its former pid."""

    def kill(server: EmbeddedPostgres) -> int:
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not is_alive(pid))
        return pid

    return kill


def test_ensure_running_leaves_a_live_server_alone(installation):
    server = installation.server()
    with server.acquire():
        pid = server.pid
        server.ensure_running()
        assert server.pid == pid


def test_killed_postmaster_is_restarted_with_its_data(installation, query, kill_postmaster):
    server = installation.server(fsync="on")
    with server.acquire():
        query(server.url, "DROP TABLE IF EXISTS kept")
        query(server.url, "CREATE TABLE kept AS SELECT 42 AS answer")
        dead = kill_postmaster(server)
        server.ensure_running()
        assert server.pid not in (dead, None)
        assert query(server.url, "SELECT answer FROM kept") == [42]


def test_session_that_does_not_react_cannot_keep_the_server_from_stopping(
    installation, query, is_alive, monkeypatch
):
    monkeypatch.setattr(cluster, "STOP_TIMEOUT", 0.5)
    server = installation.server(fsync="on")
    with server.acquire(), closing(psycopg.connect(server.url, autocommit=True)) as session:
        pid = server.pid
        session.execute("DROP TABLE IF EXISTS kept")
        session.execute("CREATE TABLE kept AS SELECT 43 AS answer")
        os.kill(session.info.backend_pid, signal.SIGSTOP)
    assert not is_alive(pid)
    with server.acquire():
        assert query(server.url, "SELECT answer FROM kept") == [43]


def test_new_app_does_not_attach_to_a_dying_server(installation, query):
    server = installation.server()
    with server.acquire():
        os.kill(server.pid, signal.SIGKILL)
        with server.acquire():
            assert query(server.url, "SELECT 1") == [1]


def test_every_acknowledged_row_survives_the_kill_of_everything(installation, query):
    app = installation.app()
    with EmbeddedPostgres(installation.var_dir).acquire():
        app.call("acquire")
    url = app.call("url")
    query(url, "CREATE TABLE acknowledged (number int)")
    enough = threading.Event()

    def kill_everything() -> None:
        enough.wait()
        app.kill()
        installation.kill_processes()

    killer = threading.Thread(target=kill_everything)
    killer.start()
    number = 0
    with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
        while True:
            connection.execute("INSERT INTO acknowledged VALUES (%s)", [number])
            number += 1
            if number == 200:
                enough.set()
    killer.join()

    server = EmbeddedPostgres(installation.var_dir)
    with server.acquire():
        (rows,) = query(server.url, "SELECT count(*)::int FROM acknowledged")
    # The last row may be committed although its acknowledgement did not arrive.
    assert rows in (number, number + 1)
    assert server.pid is None


def test_zombie_postmaster_counts_as_dead(installation, query):
    state, restarted, url = installation.app(NEVER_REAPING_APP).receive().split()
    assert (state, restarted) == ("Z", "True")
    assert query(url, "SELECT 1") == [1]


def test_a_busy_child_of_a_killed_postmaster_is_ended(
    installation, query, eventually, is_alive, kill_postmaster
):
    server = installation.server()
    with server.acquire(), closing(psycopg.connect(server.url, autocommit=True)) as connection:
        backend = connection.info.backend_pid
        connection.pgconn.send_query(b"DO $$ BEGIN LOOP END LOOP; END $$")
        eventually(lambda: query(server.url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DO%'"))
        kill_postmaster(server)
        server.ensure_running()
        assert query(server.url, "SELECT 1") == [1]
        assert not is_alive(backend)


def test_a_start_is_retried_while_the_old_children_hold_the_shared_memory(
    installation, query, kill_postmaster
):
    server = installation.server()
    with server.acquire(), closing(psycopg.connect(server.url)) as connection:
        backend = connection.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        kill_postmaster(server)
        threading.Timer(0.7, os.kill, (backend, signal.SIGCONT)).start()
        server.ensure_running()
        assert query(server.url, "SELECT 1") == [1]


def test_a_process_that_is_stopped_during_a_failed_start_tries_again(
    installation, query, eventually, is_alive, kill_postmaster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cluster, "RETRY_FAILED_START", 10)
    clean_up, monotonic, stopped_for = cluster.Cluster._clean_up, time.monotonic, 0
    server = installation.server()
    with server.acquire(), closing(psycopg.connect(server.url)) as connection:
        backend = connection.info.backend_pid

        def stop_after_failure(own: cluster.Cluster, account: Account) -> str | None:
            nonlocal stopped_for
            failure = clean_up(own, account)
            if failure is not None and not stopped_for:
                os.kill(backend, signal.SIGCONT)
                eventually(lambda: not is_alive(backend))
                stopped_for = 60
            return failure

        monkeypatch.setattr(cluster.Cluster, "_clean_up", stop_after_failure)
        monkeypatch.setattr(time, "monotonic", lambda: monotonic() + stopped_for)
        os.kill(backend, signal.SIGSTOP)
        kill_postmaster(server)
        server.ensure_running()
        assert query(server.url, "SELECT 1") == [1]
    assert stopped_for == 60


def test_guard_stops_the_server_after_all_apps_are_killed(installation, is_alive, eventually):
    guarded, other = installation.app(GUARDED_APP), installation.app()
    pid = int(guarded.receive())
    other.call("acquire")
    startstop = Layout(installation.var_dir.resolve()).startstop_lock
    with exclusive(startstop):
        guarded.kill()
        eventually(lambda: is_awaited(startstop))
    # The guard cannot stop the server while the other app lives.
    eventually(lambda: not is_awaited(startstop))
    with exclusive(startstop):
        assert is_alive(pid)
    other.kill()
    eventually(lambda: not is_alive(pid))
