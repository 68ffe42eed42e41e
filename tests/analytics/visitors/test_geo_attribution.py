from pathlib import Path

import pytest

from analytics.visitors.geo import GeoDatabase
from tests.analytics.mmdb import write_mmdb

PARIS = {"8.8.8.0/24": {"country_code": "FR", "city": "Paris"}}
FRANCE = {"8.8.8.0/24": {"country_code": "FR"}}
DB_IP = {"text": "IP Geolocation by DB-IP", "url": "https://db-ip.com"}
GEOLITE = {
    "text": "This product includes GeoLite Data created by MaxMind, available from https://www.maxmind.com",
    "url": "https://www.maxmind.com",
}


@pytest.mark.parametrize(
    ("database_type", "description", "name", "shown"),
    [
        ("DBIP-City-Lite", "", "city.mmdb", DB_IP),
        ("City", "DB-IP.com IP to City Lite", "city.mmdb", DB_IP),
        ("city ipv4", "", "dbip-city-ipv4.mmdb", DB_IP),
        ("GeoLite2-City", "GeoLite2 City database", "city.mmdb", GEOLITE),
        ("GeoIP2-City", "GeoIP2 City database", "city.mmdb", None),
        ("Test", "", "city.mmdb", None),
    ],
)
def test_attribution_follows_the_licence_of_the_file(
    tmp_path: Path, database_type: str, description: str, name: str, shown: dict[str, str] | None
) -> None:
    path = write_mmdb(
        tmp_path / name, PARIS, ip_version=4, database_type=database_type, description=description
    )

    assert GeoDatabase([path]).attribution() == shown


def test_no_attribution_without_a_readable_file(tmp_path: Path) -> None:
    assert GeoDatabase([]).attribution() is None
    assert GeoDatabase([tmp_path / "dbip-city.mmdb"]).attribution() is None


def test_attribution_of_cities_precedes_that_of_countries(tmp_path: Path) -> None:
    countries = write_mmdb(tmp_path / "a.mmdb", FRANCE, ip_version=4, database_type="DBIP-Country-Lite")
    cities = write_mmdb(tmp_path / "b.mmdb", PARIS, ip_version=4, database_type="GeoLite2-City")

    assert GeoDatabase([countries, cities]).attribution() == GEOLITE
    assert GeoDatabase([countries]).attribution() == DB_IP
