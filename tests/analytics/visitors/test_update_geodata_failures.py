"""A failed update of the geodata keeps the current file and says why."""

import fcntl
import gzip
import os
import random
import zlib
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from django.conf import LazySettings

from analytics.visitors.geo import GeoDatabase, Location
from tests.analytics.mmdb import write_mmdb
from tests.analytics.visitors.geodata_server import (
    OLD,
    RequestHandler,
    Server,
    body,
    database,
    redirect,
    refusal,
    silence,
    update,
)
from tests.analytics.visitors.geodata_server import city as city
from tests.analytics.visitors.geodata_server import file as file
from tests.analytics.visitors.geodata_server import server as server


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
        (
            partial(redirect, to="file:///etc/passwd"),
            "{url} redirects, which is not followed. Set GEODATA_URL to the address of the file itself.",
        ),
    ],
    ids=[
        *("missing", "forbidden", "html", "truncated", "cut off", "damaged", "oversized", "bomb"),
        "redirect",
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
