from pathlib import Path

import pytest

from analytics.visitors.geo import GeoDatabase, Location
from tests.analytics.mmdb import write_mmdb
from tests.analytics.visitors.geodata_files import flat, nested

NOWHERE = Location(None, None)


def bare(country: str, city: str) -> dict:
    return {"country": country, "city": city, "region": "State"}


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
def test_file_gives_city_and_region_and_overrides_the_country(
    tmp_path: Path, layout, ip_version: int
) -> None:
    records = {"8.8.8.0/24": layout("FR", "Saint-Étienne"), "8.8.4.0/24": layout("DE", "Köln")}
    database = GeoDatabase([write_mmdb(tmp_path / "city.mmdb", records, ip_version=ip_version)])

    assert database.locate("8.8.8.8") == Location("FR", "Saint-Étienne", "State")
    assert database.locate("8.8.4.4") == Location("DE", "Köln", "State")
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

    assert database.locate("8.8.8.8") == Location("FR", "Paris", "State")
    assert database.locate("2001:4860:4860::8888") == Location("CA", "Montréal", "State")


def test_the_first_file_with_a_value_determines_it(tmp_path: Path) -> None:
    database = GeoDatabase(
        [
            write_mmdb(tmp_path / "a.mmdb", {"8.8.8.0/24": {"country_code": "FR"}}, ip_version=4),
            write_mmdb(tmp_path / "b.mmdb", {"8.8.8.0/24": flat("DE", "Köln")}, ip_version=4),
        ]
    )

    assert database.locate("8.8.8.8") == Location("FR", "Köln", "State")


@pytest.mark.parametrize(
    "record",
    [
        {"country_code": "EU"},
        {"country_code": ""},
        {"country_code": 7, "city": 7},
        {"country": {}, "city": {}},
        {"country": "France", "city": {"names": {"de": "Paris"}}},
        {"country": {"iso_code": "ZZ"}, "city": {"names": []}},
        {"city": "", "region": "\x00", "subdivisions": []},
        {"subdivisions": [7]},
        {"subdivisions": {}, "state1": " "},
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

    assert database.locate("8.8.8.8") == Location("FR", city, "State")
    assert database.locate("8.8.4.4") == Location("FR", city, "State")
