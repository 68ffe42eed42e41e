"""Files with geodata are replaced, missing, unreadable or damaged while they are in use."""

import logging
import os
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from analytics.visitors.geo import GeoDatabase, Location
from common.countries import COUNTRY_CODES
from testing.clock import Clock
from tests.analytics.mmdb import write_mmdb
from tests.analytics.visitors.geodata_files import flat, nested


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("analytics.visitors.geo.monotonic", clock)
    return clock


def test_replaced_file_is_loaded_within_a_second(tmp_path: Path, clock: Clock) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")

    write_mmdb(path, {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4)
    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("DE", "Köln", "State")


def test_a_country_is_remembered_until_a_file_is_replaced(tmp_path: Path, clock: Clock) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    assert [database.country_of("8.8.8.8") for _ in range(2)] == ["FR", "FR"]

    write_mmdb(path, {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4)
    clock.now += 1.1
    assert [database.country_of("8.8.8.8") for _ in range(2)] == ["DE", "DE"]


def test_readers_see_one_version_or_the_other_while_files_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.visitors.geo.monotonic", count(step=10).__next__)
    versions = {Location("FR", "Paris", "State"), Location("DE", "Köln", "State")}
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])

    def read(_reader: int) -> set[Location]:
        return {database.locate("8.8.8.8") for _ in range(2000)}

    with ThreadPoolExecutor() as readers:
        seen = readers.map(read, range(4))
        for country, city, _ in [*versions] * 50:
            write_mmdb(path, {"8.8.8.0/24": flat(country, city)}, ip_version=4)

    assert set().union(*seen) <= versions


def test_file_that_appears_later_is_loaded(tmp_path: Path, clock: Clock) -> None:
    database = GeoDatabase([tmp_path / "city.mmdb"])
    assert database.locate("8.8.8.8") == Location("US", None)

    write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")


@pytest.mark.parametrize(
    "content", [None, b"", b"no database", bytes(1 << 16)], ids=["missing", "empty", "text", "zeros"]
)
def test_unreadable_file_is_skipped_with_one_warning(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    path = tmp_path / "city.mmdb"
    if content is not None:
        path.write_bytes(content)
    database = GeoDatabase([path])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert database.locate("8.8.8.8") == Location("US", None)
            clock.now += 1.1

    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(path) in caplog.text


@pytest.mark.parametrize("broken", [b"no database", None], ids=["broken", "removed"])
def test_previous_version_stays_in_use_when_its_replacement_cannot_be_read(
    tmp_path: Path, clock: Clock, broken: bytes | None
) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")
    if broken is None:
        path.unlink()
    else:
        replacement = tmp_path / "replacement"
        replacement.write_bytes(broken)
        replacement.replace(path)
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")


def test_path_that_is_not_a_regular_file_is_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pipe = tmp_path / "city.mmdb"
    os.mkfifo(pipe)
    database = GeoDatabase([pipe, tmp_path])

    assert database.locate("8.8.8.8") == Location("US", None)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_unreadable_replacements_are_logged_once_until_one_is_readable(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    warnings = []
    for content in (b"one", b"another", path.read_bytes(), b"and again"):
        (tmp_path / "replacement").write_bytes(content)
        (tmp_path / "replacement").replace(path)
        clock.now += 1.1
        assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")
        warnings.append(len(caplog.records))

    assert warnings == [1, 1, 1, 2]


def test_replacement_with_a_damaged_record_leaves_the_previous_version_in_use(
    tmp_path: Path, clock: Clock
) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    damage(write_mmdb(tmp_path / "new", {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4), "DE").replace(path)
    clock.now += 1.1

    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")


def test_damaged_record_beyond_the_sample_gives_no_location(tmp_path: Path) -> None:
    records = {f"1.0.{third}.0/24": flat("AU", "Sydney") for third in range(0, 256, 2)}
    records |= {f"2.0.{third}.0/24": flat("FR", "Paris") for third in range(0, 256, 2)}
    records["9.9.9.0/24"] = flat("DE", "Köln")
    path = damage(write_mmdb(tmp_path / "city.mmdb", records, ip_version=4), "DE")
    database = GeoDatabase([path])

    assert database.locate("2.0.254.1") == Location("FR", "Paris", "State")
    assert database.locate("9.9.9.9") == Location("US", None)


# The C reader calls a deprecated function for some damaged texts.
@pytest.mark.filterwarnings("ignore:PyUnicode_FromStringAndSize:DeprecationWarning")
@pytest.mark.parametrize("ip_version", [4, 6])
def test_damaged_files_never_fail_a_lookup(tmp_path: Path, ip_version: int) -> None:
    records = {f"{first}.8.8.0/24": nested("FR", "Paris") for first in range(1, 20)}
    content = write_mmdb(tmp_path / "city.mmdb", records, ip_version=ip_version).read_bytes()
    chance = random.Random(5)
    for attempt in range(300):
        damaged = bytearray(content)
        for _ in range(chance.choice([1, 3, 20])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path = tmp_path / f"{attempt}.mmdb"
        path.write_bytes(damaged)
        database = GeoDatabase([path])
        for first in range(1, 20):
            country, city, region = database.locate(f"{first}.8.8.8")
            assert country is None or country in COUNTRY_CODES
            assert all(name is None or name.isprintable() for name in (city, region))


def damage(path: Path, country: str) -> Path:
    """Corrupt the country's string so that its length exceeds the file."""
    content = path.read_bytes()
    assert content.count(b"\x42" + country.encode()) == 1
    path.write_bytes(content.replace(b"\x42" + country.encode(), b"\x5f" + b"\xff" * 2))
    return path
