"""The database URL is known before the server exists and never changes; its password is secret."""

import stat
from pathlib import Path

import dj_database_url
import pytest

pytestmark = pytest.mark.slow


def test_the_address_is_the_same_before_during_and_after_a_run(installation):
    before = installation.server().url
    with installation.server().acquire():
        during = installation.server().url
    assert [before, during, installation.server().url] == [before] * 3


def test_processes_that_make_the_password_at_once_agree_on_it(fresh_installation):
    apps = [fresh_installation.app() for _ in range(6)]
    for app in apps:
        app.send("url")
    assert {app.receive() for app in apps} == {fresh_installation.server().url}


def test_the_password_is_long_and_only_for_its_owner(fresh_installation):
    _ = fresh_installation.server().url
    file = fresh_installation.var_dir / "database_password"
    assert stat.filemode(file.stat().st_mode) == "-rw-------"
    assert len(file.read_text()) == 43
    assert [path.name for path in fresh_installation.var_dir.iterdir()] == ["database_password"]


def test_var_dir_is_made_with_its_parents(fresh_installation):
    deep = fresh_installation.var_dir / "not" / "yet"
    server = type(fresh_installation.server())(deep)
    assert (server.url, server.pid) == (server.url, None)
    assert (deep / "database_password").exists()


def test_django_parses_the_url(installation):
    parsed = dj_database_url.parse(installation.server().url)
    assert {key: parsed[key] for key in ("USER", "PASSWORD", "HOST", "PORT", "NAME")} == {
        "USER": "shortener",
        "PASSWORD": (installation.var_dir / "database_password").read_text(),
        # The path keeps its capital letters, although host names are case-insensitive.
        "HOST": f"{installation.var_dir}/postgres/socket",
        "PORT": 5432,
        "NAME": "shortener",
    }


def test_pgport_in_the_client_environment_has_no_effect(installation, query, monkeypatch: pytest.MonkeyPatch):
    server = installation.server()
    monkeypatch.setenv("PGPORT", "6432")
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]


@pytest.mark.parametrize(
    "below",
    [
        pytest.param("/".join(["quite-a-deep-folder"] * 6), id="deeper than a socket address can be"),
        pytest.param("""it's "my", $HOME & `more` 100%""", id="full of shell characters"),
    ],
)
def test_unusual_folder_names_work(make_installation, query, below: str):
    installation = make_installation(below)
    server = installation.server()
    with server.acquire():
        assert query(installation.app().call("url"), "SELECT 1") == [1]


def test_a_socket_outside_var_dir_is_in_a_private_folder_that_is_deleted_with_the_server(make_installation):
    installation = make_installation("/".join(["quite-a-deep-folder"] * 6))
    server = installation.server()
    folder = Path(dj_database_url.parse(server.url)["HOST"])
    assert not folder.exists()
    with server.acquire():
        assert stat.filemode(folder.stat().st_mode) == "drwx------"
        assert folder.stat().st_uid == installation.data.stat().st_uid
        assert sorted(path.name for path in folder.iterdir()) == [".s.PGSQL.5432", ".s.PGSQL.5432.lock"]
    assert not folder.exists()
