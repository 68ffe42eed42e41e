"""The command that updates the geodata, as a process."""

import gzip
import os
import pty
import signal
import subprocess
import sys
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from tests.analytics.visitors.geodata_server import (
    Server,
    body,
    silence,
)
from tests.analytics.visitors.geodata_server import city as city
from tests.analytics.visitors.geodata_server import file as file
from tests.analytics.visitors.geodata_server import server as server

PROJECT = Path(__file__).resolve().parents[3]


def command(var: Path, url: str, stderr: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "SECRET_KEY")
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", "update_geodata"],
        cwd=PROJECT,
        env={**environment, "VAR_DIR": str(var), "GEODATA_URL": url},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def test_command_needs_no_database(server: Server, tmp_path: Path, city: bytes) -> None:
    server.handlers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))
    var = tmp_path / "var"
    with command(var, server.url("/city.mmdb.gz")) as running:
        out, err = running.communicate(timeout=240)

    assert (running.returncode, err) == (0, "")
    assert out.splitlines()[0] == f"{var}/geodata/city.mmdb: DBIP-City-Lite of 2023-11-14."
    assert sorted(path.name for path in var.iterdir()) == ["database_password", "geodata", "secret_key"]


def test_command_prints_a_one_line_error(server: Server, tmp_path: Path) -> None:
    url = server.url("/city.mmdb.gz")
    with command(tmp_path / "var", url) as running:
        out, err = running.communicate(timeout=240)

    assert (running.returncode, out, err) == (1, "", f"CommandError: No file at {url} (404).\n")


def test_command_warns_of_a_missing_file_of_cities(server: Server, settings: Settings) -> None:
    settings.GEODATA_URL = server.url("/city.mmdb.gz")
    settings.GEOIP_DATABASE = [Path("/nowhere.mmdb")]
    stderr = StringIO()
    with pytest.raises(CommandError):
        call_command("update_geodata", skip_checks=False, stderr=stderr)
    assert (
        "(configuration.W001) GEOIP_DATABASE names /nowhere.mmdb, which does not exist." in stderr.getvalue()
    )


def test_interrupted_command_leaves_no_files(server: Server, tmp_path: Path) -> None:
    server.handlers["/city.mmdb.gz"] = silence
    with command(tmp_path / "var", server.url("/city.mmdb.gz")) as running:
        assert server.reached.wait(240)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=240)

    assert (running.returncode, out, err) == (128 + signal.SIGTERM, "", "")
    assert list((tmp_path / "var" / "geodata").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "state"),
    [(b"old", "is complete: the previous version or the new one"), (None, "does not exist")],
)
def test_ctrl_c_keeps_the_current_file_and_says_how_to_continue(
    server: Server, tmp_path: Path, content: bytes | None, state: str
) -> None:
    server.handlers["/city.mmdb.gz"] = silence
    var = tmp_path / "var"
    file = var / "geodata" / "city.mmdb"
    if content is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
    with command(var, server.url("/city.mmdb.gz")) as running:
        assert server.reached.wait(240)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=240)

    assert (running.returncode, err) == (130, "")
    assert out == f"Interrupted. {file} {state}. Run update_geodata to download again.\n"
    assert [(path, path.read_bytes()) for path in file.parent.iterdir()] == (
        [] if content is None else [(file, content)]
    )


def test_download_shows_a_bar_on_a_terminal(server: Server, tmp_path: Path) -> None:
    server.handlers["/city.mmdb.gz"] = silence
    reader, terminal = pty.openpty()
    with command(tmp_path / "var", server.url("/city.mmdb.gz"), stderr=terminal) as running:
        os.close(terminal)
        shown = b""
        # The server has sent 2 of 1,000 bytes.
        while b"/1.00k" not in shown:
            shown += os.read(reader, 4096)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=240)
    os.close(reader)

    assert b"update_geodata:   0%|" in shown
