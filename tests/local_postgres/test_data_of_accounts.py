"""Data of other accounts: they move, stay, or are refused."""

import os
import pwd
import stat
import subprocess

import pytest

from local_postgres import EmbeddedPostgresError
from tests.local_postgres.accounts import as_root, belongs_to, is_strange, who
from tests.local_postgres.accounts import nobody as nobody
from tests.local_postgres.accounts import python_of_nobody as python_of_nobody
from tests.local_postgres.apps import APP

pytestmark = pytest.mark.slow


@as_root
def test_data_of_nobody_move_to_a_private_account_and_stay_intact(used_installation, query, nobody, tmp_path):
    server = used_installation.server()
    with server.acquire():
        query(server.url, "CREATE TABLE kept AS SELECT 42 AS number")
    data = used_installation.data
    subprocess.run(["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", data], check=True)
    # As a process of nobody might have left it: files elsewhere must keep their owner.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("root's")
    (data / "planted").symlink_to(elsewhere)
    os.chown(data / "planted", nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    with server.acquire():
        uid, gid, groups = who(server.pid)
        assert is_strange(int(uid))
        assert (uid, groups) == (gid, "")
        assert query(server.url, "SELECT number FROM kept") == [42]
    (data / "planted").unlink()
    assert belongs_to(data) == {(int(uid), int(gid))}
    assert elsewhere.stat().st_uid == 0


@as_root
def test_a_change_of_the_account_that_was_cut_short_is_finished(used_installation, query, nobody):
    server = used_installation.server()
    data = used_installation.data
    owner = data.stat().st_uid
    # The owner of the folder and of some of its files has already changed.
    for name in ("base", "global", "pg_wal", "postgresql.conf", "PG_VERSION"):
        subprocess.run(["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", data / name], check=True)
    with server.acquire():
        assert who(server.pid) == (str(owner), str(owner), "")
        assert query(server.url, "SELECT 1") == [1]
    assert belongs_to(data) == {(owner, owner)}


@as_root
def test_data_in_a_folder_of_nobodys_own_stay_with_nobody(used_installation, nobody):
    server = used_installation.server()
    subprocess.run(
        ["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", used_installation.server_dir], check=True
    )
    with server.acquire():
        assert who(server.pid) == (str(nobody.pw_uid), str(nobody.pw_gid), "")


@as_root
def test_the_owner_of_the_data_decides_which_account_it_is(used_installation, query):
    server = used_installation.server()
    daemon = pwd.getpwnam("daemon")
    subprocess.run(["chown", "-R", f"{daemon.pw_uid}:{daemon.pw_gid}", used_installation.data], check=True)
    with server.acquire():
        assert who(server.pid) == (str(daemon.pw_uid), str(daemon.pw_gid), "")
        assert query(server.url, "SELECT 1") == [1]


@as_root
def test_data_owned_by_root_raise_a_one_line_error(fresh_installation):
    fresh_installation.data.mkdir(parents=True)
    (fresh_installation.data / "PG_VERSION").write_text("18\n")
    with pytest.raises(EmbeddedPostgresError) as error:
        fresh_installation.server().acquire()
    assert str(error.value) == (
        f"{fresh_installation.data} belongs to root, and PostgreSQL does not run as root: "
        f"give it to an unprivileged account (chown -R nobody {fresh_installation.data})."
    )


@as_root
def test_below_a_closed_folder_the_cluster_moves_out_and_the_folder_stays_closed(make_installation, query):
    installation = make_installation("closed")
    closed = installation.var_dir.parent
    closed.chmod(0o700)
    # Not the usual parent, which other tests use at the same time.
    parent = closed.parent / "private"
    beginning = f"""
from pathlib import Path
from local_postgres import layout
layout.PRIVATE_PARENT = Path({str(parent)!r})
"""
    app = installation.app(beginning + APP, umask=0o077)
    before = app.call("url")
    app.call("acquire")
    assert installation.server_dir.parent == parent
    assert (app.call("url"), query(before, "SELECT 1")) == (before, [1])
    assert query(installation.app().call("url"), "SELECT 1") == [1]
    assert stat.filemode(closed.stat().st_mode) == "drwx------"


@as_root
def test_unreadable_password_file_raises_a_clear_error(installation, nobody, python_of_nobody):
    _ = installation.server().url
    user = installation.app(
        python=[python_of_nobody], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[]
    )
    assert user.call("acquire") == (
        f"error: {installation.var_dir}/database_password: Permission denied. "
        "Run as its owner, or choose another VAR_DIR."
    )


@as_root
def test_data_of_another_user_raise_a_clear_error(fresh_installation, nobody, python_of_nobody):
    fresh_installation.data.mkdir(parents=True)
    os.chown(fresh_installation.var_dir, nobody.pw_uid, nobody.pw_gid)
    user = fresh_installation.app(
        python=[python_of_nobody], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[]
    )
    assert user.call("acquire") == (
        f"error: {fresh_installation.data} belongs to the account root: run as that account or as root, "
        "or choose another VAR_DIR."
    )
