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

NOWHERE = Location(None, None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("analytics.visitors.geo.monotonic", clock)
    return clock


def nested(country: str, city: str) -> dict:
    return {"country": {"iso_code": country}, "city": {"names": {"de": "anders", "en": city}}}


def flat(country: str, city: str) -> dict:
    return {"country_code": country, "city": city, "state1": "anders", "timezone": "anders"}


def bare(country: str, city: str) -> dict:
    return {"country": country, "city": city}


@pytest.mark.parametrize(
    ("address", "country"),
    [
        ("8.8.8.8", "US"),
        ("2001:4860:4860::8888", "US"),
        ("212.118.100.5", "SA"),
        ("81.2.69.160", "GB"),
        ("133.11.0.1", "JP"),
        ("200.147.3.157", "BR"),
    ],
)
def test_country_needs_no_file(address: str, country: str) -> None:
    database = GeoDatabase([])

    assert database.country_of(address) == country
    assert database.locate(address) == Location(country, None)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "unknown",
        "8.8.8",
        "8.8.8.8:53",
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "203.0.113.5",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "2001:db8::1",
        "\x00",
    ],
)
def test_addresses_without_a_country_have_no_location(tmp_path: Path, address: str) -> None:
    everywhere = {"0.0.0.0/1": flat("FR", "Paris"), "128.0.0.0/1": flat("FR", "Paris")}
    database = GeoDatabase([write_mmdb(tmp_path / "v4.mmdb", everywhere, ip_version=4)])

    assert database.locate(address) == NOWHERE


@pytest.mark.parametrize("layout", [nested, flat, bare])
@pytest.mark.parametrize("ip_version", [4, 6])
def test_file_gives_the_city_and_overrides_the_country(tmp_path: Path, layout, ip_version: int) -> None:
    records = {"8.8.8.0/24": layout("FR", "Saint-Étienne"), "8.8.4.0/24": layout("DE", "Köln")}
    database = GeoDatabase([write_mmdb(tmp_path / "city.mmdb", records, ip_version=ip_version)])

    assert database.locate("8.8.8.8") == Location("FR", "Saint-Étienne")
    assert database.locate("8.8.4.4") == Location("DE", "Köln")
    assert database.country_of("8.8.8.8") == "FR"


def test_addresses_that_the_file_lacks_keep_their_country(tmp_path: Path) -> None:
    database = GeoDatabase(
        [write_mmdb(tmp_path / "city.mmdb", {"9.9.9.0/24": flat("FR", "Paris")}, ip_version=4)]
    )

    assert database.locate("8.8.8.8") == Location("US", None)
    assert database.locate("2001:4860:4860::8888") == Location("US", None)


def test_ipv4_and_ipv6_may_be_in_separate_files(tmp_path: Path) -> None:
    database = GeoDatabase(
        [
            write_mmdb(tmp_path / "v4.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4),
            write_mmdb(tmp_path / "v6.mmdb", {"2001:4860::/32": nested("CA", "Montréal")}, ip_version=6),
        ]
    )

    assert database.locate("8.8.8.8") == Location("FR", "Paris")
    assert database.locate("2001:4860:4860::8888") == Location("CA", "Montréal")


def test_the_first_file_with_a_value_determines_it(tmp_path: Path) -> None:
    database = GeoDatabase(
        [
            write_mmdb(tmp_path / "a.mmdb", {"8.8.8.0/24": {"country_code": "FR"}}, ip_version=4),
            write_mmdb(tmp_path / "b.mmdb", {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4),
        ]
    )

    assert database.locate("8.8.8.8") == Location("FR", "Köln")


@pytest.mark.parametrize(
    "record",
    [
        {"country_code": "EU"},
        {"country_code": ""},
        {"country_code": 7, "city": 7},
        {"country": {}, "city": {}},
        {"country": "France", "city": {"names": {"de": "Paris"}}},
        {"country": {"iso_code": "ZZ"}, "city": {"names": []}},
        {"city": ""},
        {},
    ],
)
def test_incomplete_records_give_no_country_or_city(tmp_path: Path, record: dict) -> None:
    database = GeoDatabase([write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": record}, ip_version=4)])

    assert database.locate("8.8.8.8") == Location("US", None)


@pytest.mark.parametrize(
    ("written", "city"),
    [
        ("Par\x00is\n", "Paris"),
        (" Paris ", "Paris"),
        ("\x00", None),
        ("é" * 100, "é" * 100),
        ("é" * 101, "é" * 100),
        ("é" * 99 + " é", "é" * 99),
    ],
)
def test_city_names_are_cleaned_for_storage(tmp_path: Path, written: str, city: str | None) -> None:
    records = {"8.8.8.0/24": flat("FR", written), "8.8.4.0/24": nested("FR", written)}
    database = GeoDatabase([write_mmdb(tmp_path / "city.mmdb", records, ip_version=4)])

    assert database.locate("8.8.8.8") == Location("FR", city)
    assert database.locate("8.8.4.4") == Location("FR", city)


def test_replaced_file_is_loaded_within_a_second(tmp_path: Path, clock: Clock) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    assert database.locate("8.8.8.8") == Location("FR", "Paris")

    write_mmdb(path, {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4)
    assert database.locate("8.8.8.8") == Location("FR", "Paris")
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("DE", "Köln")


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
    versions = {Location("FR", "Paris"), Location("DE", "Köln")}
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])

    def read(_reader: int) -> set[Location]:
        return {database.locate("8.8.8.8") for _ in range(2000)}

    with ThreadPoolExecutor() as readers:
        seen = readers.map(read, range(4))
        for country, city in [*versions] * 50:
            write_mmdb(path, {"8.8.8.0/24": flat(country, city)}, ip_version=4)

    assert set().union(*seen) <= versions


def test_file_that_appears_later_is_loaded(tmp_path: Path, clock: Clock) -> None:
    database = GeoDatabase([tmp_path / "city.mmdb"])
    assert database.locate("8.8.8.8") == Location("US", None)

    write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("FR", "Paris")


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
    assert database.locate("8.8.8.8") == Location("FR", "Paris")
    if broken is None:
        path.unlink()
    else:
        replacement = tmp_path / "replacement"
        replacement.write_bytes(broken)
        replacement.replace(path)
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("FR", "Paris")


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
        assert database.locate("8.8.8.8") == Location("FR", "Paris")
        warnings.append(len(caplog.records))

    assert warnings == [1, 1, 1, 2]


def test_replacement_with_a_damaged_record_leaves_the_previous_version_in_use(
    tmp_path: Path, clock: Clock
) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    damage(write_mmdb(tmp_path / "new", {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4), "DE").replace(path)
    clock.now += 1.1

    assert database.locate("8.8.8.8") == Location("FR", "Paris")


def test_damaged_record_beyond_the_sample_gives_no_location(tmp_path: Path) -> None:
    records = {f"1.0.{third}.0/24": flat("AU", "Sydney") for third in range(0, 256, 2)}
    records |= {f"2.0.{third}.0/24": flat("FR", "Paris") for third in range(0, 256, 2)}
    records["9.9.9.0/24"] = flat("DE", "Köln")
    path = damage(write_mmdb(tmp_path / "city.mmdb", records, ip_version=4), "DE")
    database = GeoDatabase([path])

    assert database.locate("2.0.254.1") == Location("FR", "Paris")
    assert database.locate("9.9.9.9") == Location("US", None)


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
            country, city = database.locate(f"{first}.8.8.8")
            assert country is None or country in COUNTRY_CODES
            assert city is None or city.isprintable()


def damage(path: Path, country: str) -> Path:
    """Corrupt the country's string so that its length exceeds the file."""
    content = path.read_bytes()
    assert content.count(b"\x42" + country.encode()) == 1
    path.write_bytes(content.replace(b"\x42" + country.encode(), b"\x5f" + b"\xff" * 2))
    return path
