"""`update_geodata` against a real HTTP server on this machine."""

import gzip
import stat
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings

from analytics.visitors.geo import GeoDatabase, Location
from tests.analytics.mmdb import write_mmdb
from tests.analytics.visitors.geodata_server import (
    OLD,
    Server,
    body,
    database,
    redirect,
    refusal,
    update,
)
from tests.analytics.visitors.geodata_server import city as city
from tests.analytics.visitors.geodata_server import file as file
from tests.analytics.visitors.geodata_server import server as server


@pytest.fixture
def monthly(settings: LazySettings, server: Server, file: Path) -> Path:
    settings.GEODATA_URL = server.url("/{year}-{month:02}.gz")
    return file


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


def test_redirects_are_not_followed(server: Server, file: Path, city: bytes) -> None:
    server.handlers["/city.mmdb.gz"] = partial(redirect, to="/elsewhere")
    server.handlers["/elsewhere"] = partial(body, content=gzip.compress(city))

    assert "redirects, which is not followed" in refusal()
    assert server.requests == ["/city.mmdb.gz"]
