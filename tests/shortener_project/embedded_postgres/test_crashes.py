"""Whatever is killed, the next start works and what was committed is there."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from shortener_project.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
from shortener_project.embedded_postgres.layout import Layout
from shortener_project.embedded_postgres.lease import exclusive

# A container without an init does not reap: there, a dead postmaster remains a zombie for ever.
NEVER_REAPING_APP = """
import ctypes, os, signal, sys, time
from pathlib import Path
from shortener_project.embedded_postgres import EmbeddedPostgres
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
from shortener_project.embedded_postgres import EmbeddedPostgres
from shortener_project.embedded_postgres.guard import guarded
server = EmbeddedPostgres(Path(sys.argv[1]), options={"fsync": "off"})
with server.acquire(), guarded(Path(sys.argv[1])):
    print(server.pid, flush=True)
    sys.stdin.readline()
"""


def somebody_waits_for(lock: Path) -> bool:
    inode = f":{lock.stat().st_ino} "
    return any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines())


@pytest.fixture
def kill_postmaster(eventually, is_alive) -> Callable[[EmbeddedPostgres], int]:
    """Kill it and wait until the kernel has carried that out; return what its pid was."""

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


def test_a_killed_postmaster_is_started_again_with_its_rows(installation, query, kill_postmaster):
    server = installation.server(fsync="on")
    with server.acquire():
        query(server.url, "DROP TABLE IF EXISTS kept")
        query(server.url, "CREATE TABLE kept AS SELECT 42 AS answer")
        dead = kill_postmaster(server)
        server.ensure_running()
        assert server.pid not in (dead, None)
        assert query(server.url, "SELECT answer FROM kept") == [42]


def test_a_new_app_is_not_given_a_server_that_is_being_killed(installation, query):
    server = installation.server()
    with server.acquire():
        os.kill(server.pid, signal.SIGKILL)
        with server.acquire():
            assert query(server.url, "SELECT 1") == [1]


def test_every_acknowledged_row_survives_the_kill_of_everything(installation, query):
    app = installation.app()
    with EmbeddedPostgres(installation.var_dir).acquire():
        app.do("acquire")
    url = app.do("url")
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
    # The last one may have been committed without its acknowledgement having arrived.
    assert rows in (number, number + 1)
    assert server.pid is None


def test_a_zombie_is_no_live_server(installation, query):
    state, restarted, url = installation.app(NEVER_REAPING_APP).hear().split()
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


def _claim(installation, pid: int) -> None:
    """Make the files of a dead server name this process."""
    socket_dir = installation.home / "socket"
    lines = [pid, installation.data, 1700000000, 5432, socket_dir, "", " 1234 5678", "ready   "]
    text = "".join(f"{line}\n" for line in lines)
    (installation.data / "postmaster.pid").write_text(text)
    socket_dir.mkdir(exist_ok=True)
    (socket_dir / ".s.PGSQL.5432.lock").write_text(text)


def test_files_that_name_a_living_stranger_are_cleared_and_the_stranger_is_not_harmed(installation, query):
    server = installation.server()
    server.acquire().release()
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        try:
            _claim(installation, stranger.pid)
            assert server.pid is None
            with server.acquire():
                assert query(server.url, "SELECT 1") == [1]
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_files_that_name_the_server_of_another_folder_are_cleared_and_it_is_not_harmed(
    make_installation, query
):
    installation, other = make_installation(), make_installation()
    server, neighbour = installation.server(), other.server()
    server.acquire().release()
    with neighbour.acquire():
        pid = neighbour.pid
        _claim(installation, pid)
        with server.acquire():
            assert query(server.url, "SELECT 1") == [1]
        assert neighbour.pid == pid
        assert query(neighbour.url, "SELECT 1") == [1]


@pytest.mark.parametrize("content", ["", "garbage\n", "-1\n", "99999999\n"])
def test_a_damaged_pid_file_is_cleared(installation, query, content: str):
    server = installation.server()
    server.acquire().release()
    (installation.data / "postmaster.pid").write_text(content)
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]


def test_the_server_of_a_folder_deleted_beneath_it_cannot_harm_its_successor(
    fresh_installation, query, is_alive
):
    app = fresh_installation.app()
    old = int(app.do("acquire"))
    app.kill()
    subprocess.run(["rm", "-rf", *fresh_installation.var_dir.iterdir()], check=True)
    server = fresh_installation.server()
    with server.acquire():
        # Noticing the loss, it would have removed the socket of its successor.
        assert not is_alive(old)
        assert query(server.url, "SELECT 1") == [1]


def test_a_server_that_is_invisible_from_here_is_not_joined_by_a_second_one(
    installation, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("shortener_project.embedded_postgres.cluster.RETRY_FAILED_START", 0)
    server = installation.server()
    server.acquire().release()
    (installation.home / "socket").mkdir()
    # As from within another container: it answers, but has no process that could be seen here.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(installation.home / "socket" / ".s.PGSQL.5432"))
        listener.listen()
        with pytest.raises(EmbeddedPostgresError) as error:
            server.acquire()
    assert str(error.value) == (
        "PostgreSQL did not start: a server that is invisible from here (in another container?) uses "
        f"{installation.var_dir}/postgres."
    )
    with server.acquire():
        assert Path(f"/proc/{server.pid}").exists()


def test_the_server_of_a_guarded_app_stops_though_it_and_all_others_are_killed_one_after_the_other(
    installation, is_alive, eventually
):
    guarded, other = installation.app(GUARDED_APP), installation.app()
    pid = int(guarded.hear())
    other.do("acquire")
    startstop = Layout(installation.var_dir.resolve()).startstop_lock
    with exclusive(startstop):
        guarded.kill()
        eventually(lambda: somebody_waits_for(startstop))
    # The guard looks, in vain, as the other one lives.
    eventually(lambda: not somebody_waits_for(startstop))
    with exclusive(startstop):
        assert is_alive(pid)
    other.kill()
    eventually(lambda: not is_alive(pid))
