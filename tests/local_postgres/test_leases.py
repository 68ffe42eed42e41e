"""The server runs from the first lease of the host until the release of the last."""

import fcntl

import psycopg
import pytest

pytestmark = pytest.mark.slow

FORKING_APP = """
import os, signal, sys
from pathlib import Path
from local_postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]), options={"fsync": "off"})
with server.acquire():
    if (short := os.fork()) == 0:
        sys.exit()
    os.waitpid(short, 0)
    print(server.pid, flush=True)
    sys.stdin.readline()
    if (long := os.fork()) == 0:
        signal.pause()
print(server.pid, flush=True)
sys.stdin.readline()
with server.acquire():
    print(server.pid, flush=True)
"""
RESTLESS_APP = """
import sys
from pathlib import Path
from local_postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]), options={"fsync": "off"})
for _ in range(6):
    with server.acquire():
        sys.stdout.write("up " if server.pid else "down ")
print(flush=True)
"""


def test_only_the_last_release_stops_the_server(installation, query, is_alive):
    first, second = installation.app(), installation.app()
    pid = first.call("acquire")
    assert second.call("acquire") == pid
    first.call("release")
    assert query(second.call("url"), "SELECT 1") == [1]
    second.call("release")
    assert not is_alive(int(pid))


def test_two_leases_of_one_process_are_independent(installation, is_alive):
    server = installation.server()
    first, second = server.acquire(), server.acquire()
    pid = server.pid
    first.release()
    assert server.pid == pid
    second.release()
    assert (server.pid, is_alive(pid)) == (None, False)


def test_a_second_release_of_the_same_lease_does_nothing(installation):
    server = installation.server()
    lease, other = server.acquire(), server.acquire()
    lease.release()
    lease.release()
    assert server.pid is not None
    other.release()


def test_a_lease_is_released_by_leaving_its_block(installation):
    server = installation.server()
    with server.acquire():
        assert server.pid is not None
    assert server.pid is None


def test_a_killed_app_leaves_a_server_that_the_next_one_attaches_to_and_stops(installation, query, is_alive):
    killed, successor = installation.app(), installation.app()
    pid = killed.call("acquire")
    killed.kill()
    assert query(successor.call("url"), "SELECT 1") == [1]
    assert successor.call("acquire") == pid
    successor.call("release")
    assert not is_alive(int(pid))


def test_a_killed_app_does_not_keep_the_server_from_being_stopped(installation, is_alive):
    killed, survivor = installation.app(), installation.app()
    pid = killed.call("acquire")
    survivor.call("acquire")
    killed.kill()
    survivor.call("release")
    assert not is_alive(int(pid))


def test_an_app_that_ends_without_a_release_leaves_the_server_running(installation, query):
    app = installation.app()
    app.call("acquire")
    url = app.call("url")
    app.process.stdin.close()
    assert app.process.wait() == 0
    assert query(url, "SELECT 1") == [1]


def test_a_forked_child_neither_releases_the_lease_of_its_parent_nor_keeps_it(installation, is_alive):
    app = installation.app(FORKING_APP)
    # The first child has left the block by now.
    assert is_alive(int(app.receive()))
    # The second one has not, but its parent has.
    assert app.call("") == "None"
    assert app.call("") != "None"


def test_stop_and_start_never_overlap(installation):
    apps = [installation.app(RESTLESS_APP) for _ in range(4)]
    assert [app.receive() for app in apps] == ["up up up up up up"] * 4
    assert installation.server().pid is None


@pytest.mark.parametrize("lock", ["postgres.users.lock", "postgres.startstop.lock"])
def test_the_server_does_not_inherit_a_lock(installation, query, lock: str):
    app = installation.app()
    app.call("acquire")
    app.kill()
    with (installation.var_dir / lock).open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert query(installation.server().url, "SELECT 1") == [1]


def test_stopping_waits_for_open_connections_to_be_cut(installation, query, is_alive):
    app = installation.app()
    pid = int(app.call("acquire"))
    with psycopg.connect(app.call("url")) as connection:
        connection.execute("CREATE TABLE uncommitted ()")
        app.call("release")
        assert not is_alive(pid)
        connection.close()
    server = installation.server()
    with server.acquire():
        assert query(server.url, "SELECT to_regclass('uncommitted')") == [None]
