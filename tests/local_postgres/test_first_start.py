"""A cluster is created once, atomically, and never overwrites other files."""

import os
import signal
import stat
from functools import partial
from pathlib import Path

import psycopg
import pytest

from local_postgres import EmbeddedPostgres, EmbeddedPostgresError

pytestmark = pytest.mark.slow


def test_an_empty_folder_becomes_a_server_with_the_database(fresh_installation, query):
    server = fresh_installation.server()
    with server.acquire():
        assert query(server.url, "SELECT current_user || ' ' || current_database()") == [
            "shortener shortener"
        ]


def test_text_sorts_by_the_servers_own_rules_in_utf8(installation, query):
    server = installation.server()
    with server.acquire():
        assert query(
            server.url,
            "SELECT concat_ws(' ', pg_encoding_to_char(encoding), datlocprovider, datlocale) "
            "FROM pg_database WHERE datname = current_database()",
        ) == ["UTF8 b C.UTF-8"]


def test_the_server_runs_with_durable_settings_in_utc(installation, query):
    server = EmbeddedPostgres(installation.var_dir)
    with server.acquire():
        assert query(
            server.url,
            "SELECT name || '=' || setting FROM pg_settings WHERE name IN ('data_checksums', 'fsync', "
            "'listen_addresses', 'log_timezone', 'max_connections', 'shared_buffers', 'TimeZone') "
            "ORDER BY name",
        ) == [
            "TimeZone=UTC",
            "data_checksums=on",
            "fsync=on",
            "listen_addresses=",
            "log_timezone=UTC",
            "max_connections=100",
            "shared_buffers=8192",
        ]


def test_an_option_of_the_caller_reaches_the_server(installation, query):
    server = installation.server(max_connections="17")
    with server.acquire():
        assert query(server.url, "SHOW max_connections") == ["17"]


def test_another_database_is_made_beside_the_first_even_with_an_awkward_name(installation, query):
    name = """Te"st's $HOME 100%/db"""
    server = installation.server(database=name)
    with installation.server().acquire(), server.acquire():
        assert query(server.url, "SELECT current_database()") == [name]


def test_six_concurrent_starts_create_one_cluster(fresh_installation, query):
    apps = [fresh_installation.app() for _ in range(6)]
    for app in apps:
        app.call("url")
    for app in apps:
        app.send("acquire")
    pids = {app.receive() for app in apps}
    identifiers = [
        query(app.call("url"), "SELECT system_identifier FROM pg_control_system()")[0] for app in apps
    ]
    assert (len(pids), len(identifiers), len(set(identifiers))) == (1, 6, 1)
    assert fresh_installation.log.count("database system is ready to accept connections") == 1


def _has_begun(installation) -> bool:
    drafts = installation.server_dir.glob("initdb-*/data")
    return any((draft / "PG_VERSION").exists() for draft in drafts) or installation.data.exists()


@pytest.fixture
def interrupted_installation(make_installation, eventually):
    """An installation whose first start was killed during initdb."""
    while True:
        installation = make_installation()
        app = installation.app()
        app.send("acquire")
        eventually(partial(_has_begun, installation))
        app.kill()
        # If this process stops meanwhile, initdb may succeed.
        if not installation.data.exists():
            return installation


def test_interrupted_initdb_is_repeated(interrupted_installation, query, eventually):
    installation = interrupted_installation
    (draft,) = installation.server_dir.glob("initdb-*/data")
    assert (draft / "PG_VERSION").exists()

    server = installation.server()
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]
        # The orphaned initdb may still write to its draft: the next start removes it.
        eventually(lambda: installation.processes("initdb") == [])
    installation.data.rename(installation.server_dir / "set-aside")
    with server.acquire():
        assert list(installation.server_dir.glob("initdb-*")) == []


def test_an_empty_data_folder_is_filled(fresh_installation, query):
    fresh_installation.data.mkdir(parents=True)
    server = fresh_installation.server()
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]


def test_a_deleted_data_folder_is_made_anew_although_the_locks_remain(fresh_installation, query):
    server = fresh_installation.server()
    with server.acquire():
        query(server.url, "CREATE TABLE old ()")
    fresh_installation.data.rename(fresh_installation.server_dir / "set-aside")
    with server.acquire():
        assert query(server.url, "SELECT to_regclass('old')") == [None]


def test_a_folder_of_something_else_is_left_alone(fresh_installation):
    fresh_installation.data.mkdir(parents=True)
    (fresh_installation.data / "thesis.tex").write_text("irreplaceable")
    if os.geteuid() == 0:
        os.chown(fresh_installation.data, 65534, 65534)
    with pytest.raises(EmbeddedPostgresError) as error:
        fresh_installation.server().acquire()
    assert str(error.value) == (
        f"{fresh_installation.data} is not empty and not a PostgreSQL data folder (PG_VERSION is missing): "
        "move it away, or restore it."
    )
    assert [path.name for path in fresh_installation.data.iterdir()] == ["thesis.tex"]


def test_other_major_version_raises_a_one_line_error_and_releases_the_lease(installation, query, is_alive):
    server = installation.server()
    server.acquire().release()
    version = installation.data / "PG_VERSION"
    real = version.read_text()
    version.write_text("14\n")
    with pytest.raises(EmbeddedPostgresError) as error:
        server.acquire()
    assert str(error.value).startswith(
        f"{installation.data} was created by PostgreSQL 14, but the installed server is "
    )
    assert "\n" not in str(error.value)

    version.write_text(real)
    lease = server.acquire()
    pid = server.pid
    lease.release()
    assert not is_alive(pid)


def test_failed_start_raises_a_one_line_error_with_the_reason(installation, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("local_postgres.cluster.RETRY_FAILED_START", 0)
    with pytest.raises(EmbeddedPostgresError) as error:
        installation.server(max_connections="many").acquire()
    message = str(error.value)
    assert message.startswith("PostgreSQL did not start: ")
    assert message.endswith(
        f'FATAL:  invalid value for parameter "max_connections": "many" (see {installation.server_dir}/server.log)'
    )


def test_an_overgrown_log_is_set_aside_at_the_next_start(used_installation):
    server = used_installation.server()
    server.acquire().release()
    with (used_installation.server_dir / "server.log").open("a") as log:
        log.truncate(11 * 1024 * 1024)
    server.acquire().release()
    assert (used_installation.server_dir / "server.log.1").stat().st_size == 11 * 1024 * 1024
    assert used_installation.log.count("database system is ready to accept connections") == 1


def test_no_password_file_is_left_beside_the_data(fresh_installation):
    fresh_installation.server().acquire().release()
    assert sorted(path.name for path in fresh_installation.server_dir.iterdir()) == ["data", "server.log"]


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_umask_of_the_operator_makes_no_difference(fresh_installation, query, umask: int):
    app = fresh_installation.app(umask=umask)
    app.call("acquire")
    assert query(app.call("url"), "SELECT 1") == [1]
    modes = {
        path.name: stat.filemode(path.stat().st_mode)
        for path in (
            fresh_installation.data,
            fresh_installation.server_dir / "socket",
            fresh_installation.server_dir / "server.log",
        )
    }
    assert modes == {"data": "drwx------", "socket": "drwx------", "server.log": "-rw-------"}


def test_the_terminals_ctrl_c_does_not_reach_the_server(installation, query):
    app = installation.app()
    app.call("acquire")
    url = app.call("url")
    app.kill(signal.SIGINT)
    assert query(url, "SELECT 1") == [1]


def test_the_secrets_of_the_application_are_not_in_the_environment_of_the_server(installation, shell):
    app = installation.app(environment={"SECRET_KEY": "s3cret", "PGPORT": "1"})
    pid = app.call("acquire")
    environment = shell(app.call("url"), f"tr '\\0' '\\n' < /proc/{pid}/environ")
    names = {entry.partition("=")[0] for entry in environment}
    assert (names & {"SECRET_KEY", "PGPORT"}, "PATH" in names) == (set(), True)


def test_a_wrong_password_is_refused(installation):
    server = installation.server()
    with server.acquire(), pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(server.url.replace("postgres://shortener:", "postgres://shortener:x"))


def test_the_server_listens_on_no_tcp_port(installation, query, shell):
    server = installation.server()
    with server.acquire():
        assert query(server.url, "SHOW listen_addresses") == [""]
        sockets = set(shell(server.url, f"readlink /proc/{server.pid}/fd/*"))
        assert any(name.startswith("socket:[") for name in sockets)
        tcp = {
            f"socket:[{line.split()[9]}]"
            for table in ("/proc/net/tcp", "/proc/net/tcp6")
            for line in Path(table).read_text().splitlines()[1:]
        }
        assert sockets & tcp == set()
