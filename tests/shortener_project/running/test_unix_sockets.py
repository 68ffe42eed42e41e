from __future__ import annotations

import errno
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from shortener_project.running.listeners import bind_unix, refuse_live_socket


@pytest.fixture
def path() -> Iterator[Path]:
    # The path of a socket has at most 107 bytes.
    with TemporaryDirectory() as folder:
        yield Path(folder) / "http.sock"


def test_a_socket_accepts_its_group_and_is_deleted_when_closed(path: Path) -> None:
    listener = bind_unix(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    listener.close()
    assert not path.exists()
    listener.close()


def test_a_stale_socket_is_replaced(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    refuse_live_socket(str(path))
    with bind_unix(path) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.listen()
        client.connect(str(path))


def test_a_file_that_is_not_a_socket_is_kept(path: Path) -> None:
    path.write_text("data")
    with pytest.raises(FileExistsError):
        bind_unix(path)
    assert path.read_text() == "data"


def test_a_folder_and_a_symbolic_link_are_kept(path: Path) -> None:
    path.mkdir()
    link = path.with_name("link")
    link.symlink_to(path)
    for other in (path, link):
        with pytest.raises(FileExistsError):
            bind_unix(other)
    assert path.is_dir()
    assert link.is_symlink()


def test_closing_keeps_the_socket_of_another_service(path: Path) -> None:
    first = bind_unix(path)
    with bind_unix(path):
        first.close()
        assert path.is_socket()


def test_a_path_without_a_socket_is_free(path: Path) -> None:
    refuse_live_socket(str(path))


@pytest.mark.parametrize("waiting", [0, 5])
def test_a_live_socket_is_refused_even_with_a_full_backlog(path: Path, waiting: int) -> None:
    with bind_unix(path) as listener, ExitStack() as clients:
        listener.listen(0)
        for _ in range(waiting):
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            client.connect_ex(str(path))
        with pytest.raises(OSError) as refused:  # noqa: PT011 # the number is checked
            refuse_live_socket(str(path))
    assert refused.value.errno == errno.EADDRINUSE
