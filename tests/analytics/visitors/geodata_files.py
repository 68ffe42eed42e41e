"""Files with geodata in several layouts."""


def nested(country: str, city: str) -> dict:
    return {
        "country": {"iso_code": country},
        "city": {"names": {"de": "anders", "en": city}},
        "subdivisions": [{"names": {"de": "anders", "en": "State"}}, {"names": {"en": "County"}}],
    }


def flat(country: str, city: str) -> dict:
    return {
        "country_code": country,
        "city": city,
        "state1": "State",
        "state2": "County",
        "timezone": "anders",
    }
