"""`update_geodata` against a real HTTP server on this machine."""

import fcntl
import gzip
import os
import pty
import random
import signal
import stat
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from itertools import count
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from analytics.visitors.geo import GeoDatabase, Location
from tests.analytics.mmdb import write_mmdb

PROJECT = Path(__file__).resolve().parents[3]
PARIS = {"8.8.8.0/24": {"country": {"iso_code": "FR"}, "city": {"names": {"en": "Paris"}}}}
OLD = {"8.8.8.0/24": {"country_code": "DE", "city": "Köln"}}

RequestHandler = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.handlers: dict[str, RequestHandler] = {}
        self.requests: list[str] = []
        self.reached = threading.Event()
        self.ended = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        self.server.handlers.get(self.path, partial(body, content=b"nothing", status=404))(self)

    def log_message(self, *args: object) -> None:
        pass


def body(handler: BaseHTTPRequestHandler, *, content: bytes, status: int = 200, length: int = 0) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(length or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def silence(handler: BaseHTTPRequestHandler) -> None:
    """Send the headers, and then nothing until the test ends."""
    assert isinstance(handler.server, Server)
    body(handler, content=b"\x1f\x8b", length=1000)
    handler.server.reached.set()
    handler.server.ended.wait()


def redirect(handler: BaseHTTPRequestHandler, *, to: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", to)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.ended.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def file(settings: LazySettings, server: Server, tmp_path: Path) -> Path:
    """The path of the downloaded file; GEODATA_URL is the server's /city.mmdb.gz."""
    settings.GEODATA_URL = server.url("/city.mmdb.gz")
    settings.GEODATA_FILE = tmp_path / "geodata" / "city.mmdb"
    return settings.GEODATA_FILE


@pytest.fixture
def monthly(settings: LazySettings, server: Server, file: Path) -> Path:
    settings.GEODATA_URL = server.url("/{year}-{month:02}.gz")
    return file


@pytest.fixture
def city(tmp_path: Path) -> bytes:
    return database(tmp_path)


def database(directory: Path, records: dict = PARIS, database_type: str = "DBIP-City-Lite") -> bytes:
    path = write_mmdb(directory / "served.mmdb", records, ip_version=6, database_type=database_type)
    content = path.read_bytes()
    path.unlink()
    return content


def update() -> list[str]:
    out = StringIO()
    call_command("update_geodata", stdout=out)
    return out.getvalue().splitlines()


def refusal() -> str:
    with pytest.raises(CommandError) as refused:
        update()
    message = str(refused.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_file_is_downloaded_and_installed(
    server: Server, file: Path, city: bytes, packed: Callable[[bytes], bytes]
) -> None:
    server.handlers["/city.mmdb.gz"] = partial(body, content=packed(city))

    assert update() == [
        f"{file}: DBIP-City-Lite of 2023-11-14.",
        "The licence requires this attribution wherever cities are shown: IP Geolocation by DB-IP, https://db-ip.com",
    ]
    assert GeoDatabase([file]).locate("8.8.8.8") == Location("FR", "Paris")
    assert list(file.parent.iterdir()) == [file]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_loaded_file_is_replaced_during_reads(
    server: Server, file: Path, city: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.visitors.geo.monotonic", count(step=10).__next__)
    file.parent.mkdir()
    write_mmdb(file, OLD, ip_version=4)
    in_use = GeoDatabase([file])
    assert in_use.locate("8.8.8.8") == Location("DE", "Köln")

    server.handlers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))
    update()
    assert in_use.locate("8.8.8.8") == Location("FR", "Paris")


def test_unknown_source_prints_no_attribution(server: Server, file: Path, tmp_path: Path) -> None:
    server.handlers["/city.mmdb.gz"] = partial(body, content=database(tmp_path, OLD, "ipvAll"))

    assert update() == [f"{file}: ipvAll of 2023-11-14."]


@pytest.mark.parametrize(
    ("now", "requests"),
    [
        ("2026-11-30T23:59:59+00:00", ["/2026-11.gz"]),
        ("2026-12-01T00:30:00+01:00", ["/2026-11.gz"]),
        ("2026-12-01T00:00:00+00:00", ["/2026-12.gz", "/2026-11.gz"]),
        ("2027-01-31T12:00:00+00:00", ["/2027-01.gz", "/2026-12.gz"]),
    ],
)
def test_last_months_file_is_the_fallback(
    server: Server, monthly: Path, city: bytes, now: str, requests: list[str]
) -> None:
    server.handlers[requests[-1]] = partial(body, content=gzip.compress(city))
    with time_machine.travel(now):
        update()

    assert server.requests == requests
    assert GeoDatabase([monthly]).locate("8.8.8.8") == Location("FR", "Paris")


def test_fallback_requires_a_404(server: Server, monthly: Path) -> None:
    server.handlers["/2026-11.gz"] = partial(body, content=b"busy", status=503)
    with time_machine.travel("2026-11-02T12:00:00+00:00"):
        assert refusal() == f"{server.url('/2026-11.gz')} returned status 503."

    assert server.requests == ["/2026-11.gz"]


def test_error_names_both_missing_months(server: Server, monthly: Path) -> None:
    with time_machine.travel("2026-11-02T12:00:00+00:00"):
        assert refusal() == f"No file at {server.url('/2026-11.gz')} or {server.url('/2026-10.gz')} (404)."


def test_http_redirects_are_followed(server: Server, file: Path, city: bytes) -> None:
    server.handlers["/city.mmdb.gz"] = partial(redirect, to="/elsewhere")
    server.handlers["/elsewhere"] = partial(body, content=gzip.compress(city))
    update()

    assert GeoDatabase([file]).locate("8.8.8.8") == Location("FR", "Paris")


def noise(size: int) -> bytes:
    return random.Random(1).randbytes(size)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (partial(body, content=b"no", status=404), "No file at {url} (404)."),
        (partial(body, content=b"no", status=403), "{url} returned status 403."),
        (
            partial(body, content=b"<!doctype html><p>Sorry"),
            "The file at {url} is not a city database: Error opening database file ({draft}). "
            "Is this a valid MaxMind DB file?",
        ),
        (
            partial(body, content=gzip.compress(noise(5000))[:-100]),
            "The file at {url} cannot be decompressed: Compressed file ended before the end-of-stream marker"
            " was reached",
        ),
        (
            partial(body, content=gzip.compress(noise(5000))[:-100], length=6000),
            "The file at {url} cannot be decompressed: Compressed file ended before the end-of-stream marker"
            " was reached",
        ),
        (
            partial(body, content=gzip.compress(noise(5000))[:-8] + bytes(8)),
            "The file at {url} cannot be decompressed: CRC check failed {crc}",
        ),
        (partial(body, content=noise(20_001)), "The city database is larger than 20000 bytes."),
        (
            partial(body, content=gzip.compress(bytes(20_001))),
            "The city database is larger than 20000 bytes.",
        ),
        (partial(redirect, to="file:///etc/passwd"), "{url} returned status 302."),
        (
            partial(redirect, to="ftp://127.0.0.1/city"),
            "The city database cannot be downloaded: unknown url type: ftp",
        ),
    ],
    ids=[
        *("missing", "forbidden", "html", "truncated", "cut off", "damaged", "oversized", "bomb"),
        *("to a file", "to ftp"),
    ],
)
def test_failed_update_keeps_the_current_file(
    server: Server, file: Path, monkeypatch: pytest.MonkeyPatch, response: RequestHandler, reason: str
) -> None:
    monkeypatch.setattr("analytics.visitors.geo_download.MAX_BYTES", 20_000)
    server.handlers["/city.mmdb.gz"] = response
    file.parent.mkdir()
    before = write_mmdb(file, OLD, ip_version=4).read_bytes()

    assert refusal() == reason.format(
        url=server.url("/city.mmdb.gz"),
        draft=file.parent / ".city.mmdb.new",
        crc=f"0x0 != {zlib.crc32(noise(5000)):#x}",
    )
    assert list(file.parent.iterdir()) == [file]
    assert file.read_bytes() == before


def test_file_without_cities_is_refused(server: Server, file: Path, tmp_path: Path) -> None:
    countries = database(tmp_path, {"8.8.8.0/24": {"country_code": "FR"}}, "DBIP-Country-Lite")
    server.handlers["/city.mmdb.gz"] = partial(body, content=gzip.compress(countries))

    assert refusal() == f"The file at {server.url('/city.mmdb.gz')} contains no cities."
    assert list(file.parent.iterdir()) == []


def test_silent_server_times_out(server: Server, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analytics.visitors.geo_download.READ_TIMEOUT_SECONDS", 0.2)
    server.handlers["/city.mmdb.gz"] = silence

    assert refusal() == "The city database cannot be downloaded: timed out"
    assert list(file.parent.iterdir()) == []


def test_slow_download_is_aborted(
    server: Server, file: Path, city: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.visitors.geo_download.monotonic", count(step=2000).__next__)
    monkeypatch.setattr("analytics.visitors.geo_download.CHUNK_BYTES", 10)
    server.handlers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))

    assert refusal() == f"The download of {server.url('/city.mmdb.gz')} took longer than 3600 seconds."
    assert list(file.parent.iterdir()) == []


def test_unreachable_server_is_reported(file: Path, settings: LazySettings) -> None:
    with Server() as closed:
        settings.GEODATA_URL = closed.url("/city.mmdb.gz")

    assert refusal() == "The city database cannot be downloaded: [Errno 111] Connection refused"


def test_directory_creation_failure_is_reported(file: Path) -> None:
    file.parent.write_text("in the way")

    assert refusal() == f"The city database cannot be downloaded: [Errno 17] File exists: '{file.parent}'"


def test_concurrent_update_is_refused(server: Server, file: Path) -> None:
    file.parent.mkdir()
    other = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert refusal() == f"Another update is running in {file.parent}."
    finally:
        os.close(other)

    assert server.requests == []


def test_leftovers_of_a_killed_update_are_overwritten(server: Server, file: Path, city: bytes) -> None:
    file.parent.mkdir()
    file.with_name(".city.mmdb.new").write_bytes(b"half")
    server.handlers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))
    update()

    assert list(file.parent.iterdir()) == [file]
    assert GeoDatabase([file]).locate("8.8.8.8") == Location("FR", "Paris")


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
