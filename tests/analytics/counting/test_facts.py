from __future__ import annotations

from itertools import product

import pytest
from django.db import connection

from analytics.counting import enrichment
from analytics.counting.enrichment import Facts, Place, place_of
from analytics.dimensions import DEFINITIONS, Dimension
from analytics.journal.records import COUNTED, OPTED_OUT, Record, encode, fields_of
from analytics.models import Kind
from testing.visitors.agents import FIREFOX

ADDRESS = "8.8.8.8"
SALTS = {0: b"salt"}


def record(**fields: object) -> Record:
    return Record(0, 7, Kind.CLICK, 0, ADDRESS, "", FIREFOX, "")._replace(**fields)


def facts(visit: Record, salts: dict[int, bytes], places: dict[bytes, Place]) -> Facts:
    [made] = enrichment.facts_of([fields_of(encode(visit))], salts, places)
    return made


def site_of(result: Facts) -> str:
    """The site that the click counts for. Direct visits are not counted."""
    [site] = [key[1:] for key in result.keys if key[0] == f"{Dimension.REFERRER:d}"] or ["direct"]
    return site


@pytest.mark.parametrize(
    ("referrer", "stored", "host"),
    [
        ("", "", "direct"),
        ("https://example.net/", "https://example.net/", "example.net"),
        ("https://www.example.net/a/b?secret=1#part", "https://www.example.net/a/b", "example.net"),
        ("https://user:password@EXAMPLE.net:8443/a", "https://example.net/a", "example.net"),
        (
            "android-app://com.google.android.gm/",
            "android-app://com.google.android.gm/",
            "com.google.android.gm",
        ),
        ("https://[2001:db8::1]/", "https://[2001:db8::1]/", "[2001:db8::1]"),
        ("https://[half", "unknown", "unknown"),
        ("about:blank", "unknown", "unknown"),
        ("nonsense", "unknown", "unknown"),
        ("https://例え.jp/", "https://例え.jp/", "例え.jp"),
        ("https://example.net/" + "x" * 600, "https://example.net/" + "x" * 492, "example.net"),
    ],
)
def test_only_site_and_path_of_a_referrer_are_stored(referrer: str, stored: str, host: str) -> None:
    result = facts(record(referrer=referrer), SALTS, {})
    assert (result.referrer, site_of(result)) == (stored, host)


@pytest.mark.django_db
def test_the_host_of_a_stored_referrer_is_the_same_in_sql() -> None:
    """Reports on raw clicks compute it from the referrer that the pipeline has stored."""
    hosts = (
        "example.net",
        "www.example.net",
        "www.www.net",
        "www.",
        "WWW.Example.NET:8443",
        "[2001:db8::1]",
        "例え.jp",
    )
    paths = ("", "/", "/www.example.com/", "//a", "/" + "x" * 600, "?a=://b", "#://c", "/a b/é")
    users = ("", "user:word@", "www.@")
    schemes = ("https://", "http://", "android-app://", "HTTPS://", "://", "//", "")
    referrers = [
        *map("".join, product(schemes, users, hosts, paths)),
        "",
        "unknown",
        "direct",
        "https://",
        "https://[",
    ]
    results = [facts(record(referrer=referrer), SALTS, {}) for referrer in referrers]
    [site] = [each.value for each in DEFINITIONS if each.dimension == Dimension.REFERRER]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {site} FROM unnest(%s::text[]) WITH ORDINALITY AS click(referrer, position) ORDER BY position",
            [[result.referrer for result in results]],
        )
        in_sql = [host for (host,) in cursor.fetchall()]
    assert in_sql == [site_of(result) for result in results]


def test_place_is_looked_up_once_per_address() -> None:
    places = {ADDRESS.encode(): place_of("DE", "Berlin", "Brandenburg")}
    assert facts(record(), SALTS, places).place == "DE Berlin\tBrandenburg"
    assert facts(record(address="212.58.244.20"), SALTS, places).place == "GB unknown"
    assert places[b"212.58.244.20"] == place_of("GB", "unknown")


def test_region_and_language_may_be_known_without_city_and_country() -> None:
    result = facts(record(), SALTS, {ADDRESS.encode(): place_of("DE", "unknown", "Bavaria")})
    assert (result.place, result.keys[1:]) == ("DE unknown\tBavaria", ("1DE", "2DE unknown\tBavaria"))
    german = facts(record(language="de"), SALTS, {ADDRESS.encode(): place_of("unknown", "unknown")})
    assert (german.client[-3:], german.keys[1:]) == ("\tde", ("1unknown de",))


def test_opted_out_visitor_has_neither_city_nor_region_nor_hash() -> None:
    places = {ADDRESS.encode(): place_of("DE", "Berlin", "Berlin")}
    result = facts(record(flags=OPTED_OUT), SALTS, places)
    assert (result.place, result.visitor, result.counted) == ("DE unknown", None, False)
    assert facts(record(flags=COUNTED), SALTS, {}).counted is True


def test_visitor_hash_depends_on_salt_link_address_and_agent() -> None:
    others = [record(subject=8), record(address="8.8.4.4"), record(user_agent="curl/8")]
    hashes = [facts(visit, SALTS, {}).visitor for visit in (record(), record(kind=Kind.HEAD), *others)]
    hashes.append(facts(record(), {0: b"other"}, {}).visitor)
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 5
