import logging
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from analytics.geo import GeoDatabase, Location
from tests.analytics.mmdb import write_mmdb

NOWHERE = Location(None, None)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("analytics.geo.monotonic", clock)
    return clock


def nested(country: str, city: str) -> dict:
    return {"country": {"iso_code": country}, "city": {"names": {"de": "anders", "en": city}}}


def flat(country: str, city: str) -> dict:
    return {"country_code": country, "city": city}


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
def test_addresses_that_belong_to_no_country_are_nowhere(tmp_path: Path, address: str) -> None:
    everywhere = {"0.0.0.0/1": flat("FR", "Paris"), "128.0.0.0/1": flat("FR", "Paris")}
    database = GeoDatabase([write_mmdb(tmp_path / "v4.mmdb", everywhere, ip_version=4)])

    assert database.locate(address) == NOWHERE


@pytest.mark.parametrize("layout", [nested, flat])
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


def test_ipv4_and_ipv6_may_lie_in_separate_files(tmp_path: Path) -> None:
    database = GeoDatabase(
        [
            write_mmdb(tmp_path / "v4.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4),
            write_mmdb(tmp_path / "v6.mmdb", {"2001:4860::/32": nested("CA", "Montréal")}, ip_version=6),
        ]
    )

    assert database.locate("8.8.8.8") == Location("FR", "Paris")
    assert database.locate("2001:4860:4860::8888") == Location("CA", "Montréal")


def test_first_file_that_knows_wins(tmp_path: Path) -> None:
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
def test_records_without_a_country_or_a_city_say_nothing(tmp_path: Path, record: dict) -> None:
    database = GeoDatabase([write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": record}, ip_version=4)])

    assert database.locate("8.8.8.8") == Location("US", None)


def test_replaced_file_is_in_use_a_second_later(tmp_path: Path, clock: Clock) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    database = GeoDatabase([path])
    assert database.locate("8.8.8.8") == Location("FR", "Paris")

    write_mmdb(path, {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4)
    assert database.locate("8.8.8.8") == Location("FR", "Paris")
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("DE", "Köln")


def test_readers_see_one_version_or_the_other_while_files_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.geo.monotonic", count(step=10).__next__)
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


def test_file_that_arrives_later_is_taken_into_use(tmp_path: Path, clock: Clock) -> None:
    database = GeoDatabase([tmp_path / "city.mmdb"])
    assert database.locate("8.8.8.8") == Location("US", None)

    write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    clock.now += 1.1
    assert database.locate("8.8.8.8") == Location("FR", "Paris")


@pytest.mark.parametrize(
    "content", [None, b"", b"no database", bytes(1 << 16)], ids=["missing", "empty", "text", "zeros"]
)
def test_unreadable_file_is_left_out_with_one_warning(
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


def test_damaged_record_says_nothing(tmp_path: Path) -> None:
    path = write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": flat("FR", "Paris")}, ip_version=4)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\x42FR", b"\x5dFR"))
    database = GeoDatabase([path])

    assert database.locate("8.8.8.8") == Location("US", None)
