from babel import Locale

from common.countries import CONTINENTS, COUNTRY_CODES, COUNTRY_NAMES, continent_of

# Two-letter territories of CLDR that are not countries of ISO 3166-1: unions, pseudo-locales, and parts of
# other countries that have a reserved code.
NO_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"}


def test_names_are_those_of_cldr() -> None:
    territories = Locale("en").territories.items()

    assert dict(COUNTRY_NAMES) == {
        code: name
        for code, name in territories
        if len(code) == 2 and code.isalpha() and code not in NO_COUNTRIES
    }


def test_codes_are_the_249_of_iso_and_kosovo() -> None:
    assert len(COUNTRY_CODES) == 250
    assert {"SA", "US", "GB", "TW", "XK"} <= COUNTRY_CODES
    assert NO_COUNTRIES.isdisjoint(COUNTRY_CODES)


def test_every_country_is_on_one_continent() -> None:
    countries = [country for some in CONTINENTS.values() for country in some]
    assert sorted(countries) == sorted(COUNTRY_NAMES)
    assert {continent_of(country) for country in COUNTRY_NAMES} == {*CONTINENTS}
    assert continent_of("unknown") is None
