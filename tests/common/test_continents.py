from common.continents import CONTINENTS, continent_of
from common.countries import COUNTRY_NAMES


def test_every_country_is_on_one_continent() -> None:
    countries = [country for some in CONTINENTS.values() for country in some]
    assert sorted(countries) == sorted(COUNTRY_NAMES)
    assert {continent_of(country) for country in COUNTRY_NAMES} == {*CONTINENTS}
    assert continent_of("unknown") is None
