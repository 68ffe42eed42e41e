"""A damaged or foreign pid file, and a server whose files were removed."""

import socket
import subprocess
from pathlib import Path

import pytest

from local_postgres import EmbeddedPostgresError

pytestmark = pytest.mark.slow


def _claim(installation, pid: int) -> None:
    """Write this pid to the files of a dead server."""
    socket_dir = installation.server_dir / "socket"
    lines = [pid, installation.data, 1700000000, 5432, socket_dir, "", " 1234 5678", "ready   "]
    text = "".join(f"{line}\n" for line in lines)
    (installation.data / "postmaster.pid").write_text(text)
    socket_dir.mkdir(exist_ok=True)
    (socket_dir / ".s.PGSQL.5432.lock").write_text(text)


def test_pid_file_naming_an_unrelated_process_is_removed_without_harming_it(installation, query):
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


def test_pid_file_naming_another_clusters_server_is_removed_without_harming_it(make_used_installation, query):
    installation, other = make_used_installation(), make_used_installation()
    server, neighbour = installation.server(), other.server()
    with neighbour.acquire():
        pid = neighbour.pid
        _claim(installation, pid)
        with server.acquire():
            assert query(server.url, "SELECT 1") == [1]
        assert neighbour.pid == pid
        assert query(neighbour.url, "SELECT 1") == [1]


@pytest.mark.parametrize("content", ["", "garbage\n", "-1\n", "99999999\n"])
def test_damaged_pid_file_is_removed(installation, query, content: str):
    server = installation.server()
    server.acquire().release()
    (installation.data / "postmaster.pid").write_text(content)
    with server.acquire():
        assert query(server.url, "SELECT 1") == [1]


def _delete_content(folder: Path) -> bool:
    return subprocess.run(["rm", "-rf", *folder.iterdir()], check=False).returncode == 0


def test_the_server_of_a_folder_deleted_beneath_it_cannot_harm_its_successor(
    used_installation, query, is_alive, eventually
):
    app = used_installation.app()
    old = int(app.call("acquire"))
    app.kill()
    # The server may add a file to a folder that is being deleted.
    eventually(lambda: _delete_content(used_installation.var_dir))
    server = used_installation.server()
    with server.acquire():
        # On noticing the loss, it would have removed the socket of its successor.
        assert not is_alive(old)
        assert query(server.url, "SELECT 1") == [1]


def test_no_second_server_starts_beside_an_invisible_one(installation, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("local_postgres.cluster.RETRY_FAILED_START", 0)
    server = installation.server()
    server.acquire().release()
    (installation.server_dir / "socket").mkdir()
    # Like a server in another container: it responds, but its process is not visible here.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(installation.server_dir / "socket" / ".s.PGSQL.5432"))
        listener.listen()
        with pytest.raises(EmbeddedPostgresError) as error:
            server.acquire()
    assert str(error.value) == (
        "PostgreSQL did not start: a server that is invisible from here (in another container?) uses "
        f"{installation.var_dir}/postgres."
    )
    with server.acquire():
        assert Path(f"/proc/{server.pid}").exists()
