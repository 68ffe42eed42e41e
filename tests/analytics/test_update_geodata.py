"""The command against a real server on this machine."""

import fcntl
import gzip
import os
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

from analytics.geo import GeoDatabase, Location
from tests.analytics.mmdb import write_mmdb

PROJECT = Path(__file__).resolve().parents[2]
PARIS = {"8.8.8.0/24": {"country": {"iso_code": "FR"}, "city": {"names": {"en": "Paris"}}}}
OLD = {"8.8.8.0/24": {"country_code": "DE", "city": "Köln"}}

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.reached = threading.Event()
        self.ended = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.answers.get(self.path, partial(body, content=b"nothing", status=404))(self)

    def log_message(self, *args: object) -> None:
        pass


def body(handler: BaseHTTPRequestHandler, *, content: bytes, status: int = 200, length: int = 0) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(length or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def silence(handler: BaseHTTPRequestHandler) -> None:
    """Begins, and then says nothing until the test is over."""
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
    """Where the fetched file belongs; GEODATA_URL is the server's /city.mmdb.gz."""
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
def test_file_is_fetched_into_its_place(
    server: Server, file: Path, city: bytes, packed: Callable[[bytes], bytes]
) -> None:
    server.answers["/city.mmdb.gz"] = partial(body, content=packed(city))

    assert update() == [
        f"{file}: DBIP-City-Lite of 2023-11-14.",
        "To be shown with cities: IP Geolocation by DB-IP, https://db-ip.com",
    ]
    assert GeoDatabase([file]).locate("8.8.8.8") == Location("FR", "Paris")
    assert list(file.parent.iterdir()) == [file]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_file_in_use_is_replaced_while_it_is_read(
    server: Server, file: Path, city: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.geo.monotonic", count(step=10).__next__)
    file.parent.mkdir()
    write_mmdb(file, OLD, ip_version=4)
    in_use = GeoDatabase([file])
    assert in_use.locate("8.8.8.8") == Location("DE", "Köln")

    server.answers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))
    update()
    assert in_use.locate("8.8.8.8") == Location("FR", "Paris")


def test_cities_without_a_known_source_are_taken_without_a_word(
    server: Server, file: Path, tmp_path: Path
) -> None:
    server.answers["/city.mmdb.gz"] = partial(body, content=database(tmp_path, OLD, "ipvAll"))

    assert update() == [f"{file}: ipvAll of 2023-11-14."]


@pytest.mark.parametrize(
    ("now", "asked"),
    [
        ("2026-11-30T23:59:59+00:00", ["/2026-11.gz"]),
        ("2026-12-01T00:30:00+01:00", ["/2026-11.gz"]),
        ("2026-12-01T00:00:00+00:00", ["/2026-12.gz", "/2026-11.gz"]),
        ("2027-01-31T12:00:00+00:00", ["/2027-01.gz", "/2026-12.gz"]),
    ],
)
def test_last_months_file_serves_until_this_months_is_there(
    server: Server, monthly: Path, city: bytes, now: str, asked: list[str]
) -> None:
    server.answers[asked[-1]] = partial(body, content=gzip.compress(city))
    with time_machine.travel(now):
        update()

    assert server.asked == asked
    assert GeoDatabase([monthly]).locate("8.8.8.8") == Location("FR", "Paris")


def test_only_a_missing_file_leads_to_last_months(server: Server, monthly: Path) -> None:
    server.answers["/2026-11.gz"] = partial(body, content=b"busy", status=503)
    with time_machine.travel("2026-11-02T12:00:00+00:00"):
        assert refusal() == f"{server.url('/2026-11.gz')} answers 503."

    assert server.asked == ["/2026-11.gz"]


def test_two_missing_months_are_both_named(server: Server, monthly: Path) -> None:
    with time_machine.travel("2026-11-02T12:00:00+00:00"):
        assert (
            refusal()
            == f"There is nothing at {server.url('/2026-11.gz')} or {server.url('/2026-10.gz')} (404)."
        )


def test_redirects_within_the_web_are_followed(server: Server, file: Path, city: bytes) -> None:
    server.answers["/city.mmdb.gz"] = partial(redirect, to="/elsewhere")
    server.answers["/elsewhere"] = partial(body, content=gzip.compress(city))
    update()

    assert GeoDatabase([file]).locate("8.8.8.8") == Location("FR", "Paris")


def noise(size: int) -> bytes:
    return random.Random(1).randbytes(size)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (partial(body, content=b"no", status=404), "There is nothing at {url} (404)."),
        (partial(body, content=b"no", status=403), "{url} answers 403."),
        (
            partial(body, content=b"<!doctype html><p>Sorry"),
            "What {url} answers is no database of cities: Error opening database file ({draft}). "
            "Is this a valid MaxMind DB file?",
        ),
        (
            partial(body, content=gzip.compress(noise(5000))[:-100]),
            "What {url} answers cannot be unpacked: Compressed file ended before the end-of-stream marker"
            " was reached",
        ),
        (
            partial(body, content=gzip.compress(noise(5000))[:-100], length=6000),
            "What {url} answers cannot be unpacked: Compressed file ended before the end-of-stream marker"
            " was reached",
        ),
        (
            partial(body, content=gzip.compress(noise(5000))[:-8] + bytes(8)),
            "What {url} answers cannot be unpacked: CRC check failed {crc}",
        ),
        (partial(body, content=noise(20_001)), "The file of cities is larger than 20000 bytes."),
        (
            partial(body, content=gzip.compress(bytes(20_001))),
            "The file of cities is larger than 20000 bytes.",
        ),
        (partial(redirect, to="file:///etc/passwd"), "{url} answers 302."),
        (
            partial(redirect, to="ftp://127.0.0.1/city"),
            "The file of cities cannot be fetched: unknown url type: ftp",
        ),
    ],
    ids=[
        *("missing", "forbidden", "html", "truncated", "cut off", "damaged", "oversized", "bomb"),
        *("to a file", "to ftp"),
    ],
)
def test_failure_leaves_the_file_in_force(
    server: Server, file: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, reason: str
) -> None:
    monkeypatch.setattr("analytics.geo_download.MAX_BYTES", 20_000)
    server.answers["/city.mmdb.gz"] = answer
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
    server.answers["/city.mmdb.gz"] = partial(body, content=gzip.compress(countries))

    assert refusal() == f"What {server.url('/city.mmdb.gz')} answers knows no cities."
    assert list(file.parent.iterdir()) == []


def test_server_that_falls_silent_is_given_up(
    server: Server, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.geo_download.SILENCE_SECONDS", 0.2)
    server.answers["/city.mmdb.gz"] = silence

    assert refusal() == "The file of cities cannot be fetched: timed out"
    assert list(file.parent.iterdir()) == []


def test_server_that_drips_is_given_up(
    server: Server, file: Path, city: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.geo_download.monotonic", count(step=2000).__next__)
    monkeypatch.setattr("analytics.geo_download.CHUNK_BYTES", 10)
    server.answers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))

    assert refusal() == f"{server.url('/city.mmdb.gz')} takes longer than 3600 seconds."
    assert list(file.parent.iterdir()) == []


def test_server_that_cannot_be_reached_is_reported(file: Path, settings: LazySettings) -> None:
    with Server() as closed:
        settings.GEODATA_URL = closed.url("/city.mmdb.gz")

    assert refusal() == "The file of cities cannot be fetched: [Errno 111] Connection refused"


def test_directory_that_cannot_be_made_is_reported(file: Path) -> None:
    file.parent.write_text("in the way")

    assert refusal() == f"The file of cities cannot be fetched: [Errno 17] File exists: '{file.parent}'"


def test_one_update_at_a_time(server: Server, file: Path) -> None:
    file.parent.mkdir()
    other = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert refusal() == f"Another update is under way in {file.parent}."
    finally:
        os.close(other)

    assert server.asked == []


def test_what_a_killed_update_left_is_no_obstacle(server: Server, file: Path, city: bytes) -> None:
    file.parent.mkdir()
    file.with_name(".city.mmdb.new").write_bytes(b"half")
    server.answers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))
    update()

    assert list(file.parent.iterdir()) == [file]
    assert GeoDatabase([file]).locate("8.8.8.8") == Location("FR", "Paris")


def command(var: Path, url: str) -> "subprocess.Popen[str]":
    given = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "SECRET_KEY")}
    return subprocess.Popen(
        [sys.executable, "manage.py", "update_geodata"],
        cwd=PROJECT,
        env={**given, "VAR_DIR": str(var), "GEODATA_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_command_line_needs_no_database(server: Server, tmp_path: Path, city: bytes) -> None:
    server.answers["/city.mmdb.gz"] = partial(body, content=gzip.compress(city))
    var = tmp_path / "var"
    with command(var, server.url("/city.mmdb.gz")) as running:
        out, err = running.communicate(timeout=60)

    assert (running.returncode, err) == (0, "")
    assert out.splitlines()[0] == f"{var}/geodata/city.mmdb: DBIP-City-Lite of 2023-11-14."
    assert sorted(path.name for path in var.iterdir()) == ["database_password", "geodata", "secret_key"]


def test_command_line_fails_with_one_line(server: Server, tmp_path: Path) -> None:
    url = server.url("/city.mmdb.gz")
    with command(tmp_path / "var", url) as running:
        out, err = running.communicate(timeout=60)

    assert (running.returncode, out, err) == (1, "", f"CommandError: There is nothing at {url} (404).\n")


def test_interrupted_command_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    server.answers["/city.mmdb.gz"] = silence
    with command(tmp_path / "var", server.url("/city.mmdb.gz")) as running:
        assert server.reached.wait(60)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=60)

    assert (running.returncode, out, err) == (128 + signal.SIGTERM, "", "")
    assert list((tmp_path / "var" / "geodata").iterdir()) == []
