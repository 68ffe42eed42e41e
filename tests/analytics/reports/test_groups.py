"""Groups of clicks, and comparisons with another period."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import time_machine
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report

QUERY = {"startDate": "2026-03-02", "endDate": "2026-03-08"}
FACTS = [
    # A Monday and a Tuesday.
    Fact("2026-03-02T23:30Z", "DE", "Berlin", "mobile", referrer="https://www.google.com/", visitor="a"),
    Fact(
        "2026-03-02T23:45Z",
        "FR",
        "Paris",
        "desktop",
        referrer="https://bing.com/",
        visitor="a",
        count=2,
        region="Île-de-France",
        language="fr",
    ),
    Fact("2026-03-03T08:00Z", "US", "Berlin", "desktop", visitor="b", count=4, language="en"),
    Fact("2026-03-03T08:10Z", "unknown", "unknown", "tablet", scanned=True, visitor="c"),
]


def groups(api: APIClient, name: str, link: str = "", **query: object) -> dict[str, int]:
    path = f"/api/analytics/{link}" if link else "/api/analytics"
    response = api.get(path, {**QUERY, "groupBy": name, **query})
    assert response.status_code == 200, response.content
    data = response.json()["data"]
    by_value = {row["value"]: row["clicks"] for row in data["groups"]}
    assert len(by_value) == len(data["groups"])
    if name != "tag":
        assert sum(by_value.values()) == data["totalClicks"], name
    return by_value


def test_clicks_of_a_link_by_their_properties(api: APIClient, link: str) -> None:
    record(link, FACTS)
    expected: dict[str, dict[str, int]] = {
        "country": {"US": 4, "FR": 2, "DE": 1, "unknown": 1},
        "city": {"US Berlin": 4, "FR Paris": 2, "DE Berlin": 1, "unknown unknown": 1},
        "region": {"US unknown": 4, "FR Île-de-France": 2, "DE unknown": 1, "unknown unknown": 1},
        "language": {"en": 4, "fr": 2, "unknown": 2},
        "continent": {"NA": 4, "EU": 3, "unknown": 1},
        "device": {"desktop": 6, "mobile": 1, "tablet": 1},
        "browser": {"Firefox": 8},
        "os": {"Linux": 8},
        "referrer": {"direct": 5, "bing.com": 2, "google.com": 1},
        "channel": {"direct": 4, "search": 3, "qr": 1},
        "weekdayHour": {"2-8": 5, "1-23": 3},
    }
    for name, wanted in expected.items():
        for reported in (groups(api, name, link), groups(api, name, link, kind="click"), groups(api, name)):
            assert list(reported.items()) == list(wanted.items()), name
    assert groups(api, "weekdayHour", link, timezone="Europe/Berlin") == {"2-9": 5, "2-0": 3}
    assert groups(api, "weekdayHour", link, timezone="Europe/Berlin", kind="click") == {"2-9": 5, "2-0": 3}
    assert groups(api, "country", link, limit=1) == {"US": 4, "other": 4}
    assert groups(api, "continent", link, limit=1, device="desktop") == {"NA": 4, "other": 2}
    data = report(api, link, **QUERY, groupBy="continent", limit=1)
    assert data["topCountries"] == [
        {"country": "US", "clicks": 4},
        {"country": "other", "clicks": 4, "isRest": True},
    ]
    assert report(api, link, **QUERY, groupBy="weekdayHour")["groups"][1] == {
        "value": "1-23", "clicks": 3, "uniqueClicks": 1,
    }  # fmt: skip
    for name in ("tag", "url", "utmSource", "week"):
        response = api.get(f"/api/analytics/{link}", {"groupBy": name})
        assert broken_rules(response) == [("groupBy", "invalid_choice")]


def test_clicks_of_a_workspace_by_properties_of_links(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    links = [
        make_link(tags=["A", "b"], utm={"source": "mail", "campaign": "spring"}),
        make_link(tags=["b"], utm={"source": "print"}),
        make_link(),
    ]
    for number, link in enumerate(links):
        record(link["_id"], [Fact("2026-03-02T10:00Z", count=10**number), Fact("2026-03-02T10:00Z", "FR")])
    for query, base in (({}, 1), ({"country": "DE"}, 0)):
        one, two, three = (10**number + base for number in range(3))
        expected = {
            "url": {links[2]["_id"]: three, links[1]["_id"]: two, links[0]["_id"]: one},
            "tag": {"none": three, "b": one + two, "a": one},
            "utmSource": {"none": three, "print": two, "mail": one},
            "utmCampaign": {"none": two + three, "spring": one},
            "utmTerm": {"none": one + two + three},
            "domain": {"base": one + two + three},
            "creator": {str(alice.user.public_id): one + two + three},
        }
        for name, wanted in expected.items():
            assert groups(api, name, **query) == wanted, (name, query)
        assert groups(api, "url", limit=1, **query) == {links[2]["_id"]: three, "other": one + two}
        assert groups(strange_api, "url", **query) == {}


def test_real_values_are_told_from_the_rest_and_from_none(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    for number, (tags, medium) in enumerate(
        [([], None), (["None"], "none"), (["other"], "other"), (["x"], "\\none")]
    ):
        link = make_link(tags=tags, utm={"medium": medium})
        direct = [Fact("2026-03-02T10:00Z", count=2_000)] if number == 3 else []
        record(link["_id"], [*direct, Fact("2026-03-02T10:00Z", referrer="https://other/", count=10**number)])
    for query in ({}, {"device": "-unknown"}):
        for name, last in (("tag", "x"), ("utmMedium", "\\none")):
            data = api.get("/api/analytics", {**QUERY, **query, "groupBy": name}).json()["data"]
            assert [{**row, "uniqueClicks": None} for row in data["groups"]] == [
                {"value": last, "clicks": 3_000, "uniqueClicks": None},
                {"value": "other", "clicks": 100, "uniqueClicks": None},
                {"value": "none", "clicks": 10, "uniqueClicks": None},
                {"value": "none", "clicks": 1, "uniqueClicks": None, "isUnset": True},
            ]
        data = api.get("/api/analytics", {**QUERY, **query, "groupBy": "utmMedium", "limit": 2}).json()[
            "data"
        ]
        assert [(row["value"], row["clicks"], row.get("isRest")) for row in data["groups"]] == [
            ("\\none", 3_000, None),
            ("other", 100, None),
            ("other", 11, True),
        ]
        for text, clicks in (
            ("none", 1),
            (r"\none", 10),
            (r"\none,none", 11),
            (r"\\none", 3_000),
            ("-none", 3_110),
            (r"-\none", 3_101),
            ("other", 100),
        ):
            found = api.get("/api/analytics", {**QUERY, **query, "utmMedium": text}).json()["data"]
            assert found["totalClicks"] == clicks, text
    report_of_link = report(api, link["_id"], **QUERY, limit=1, utmMedium=r"\\none", device="-unknown")
    assert report_of_link["topReferrers"] == [
        {"referrer": "direct", "clicks": 2_000},
        {"referrer": "other", "clicks": 1_000, "isRest": True},
    ]
    response = api.get("/api/analytics", {**QUERY, "groupBy": "tag", "format": "csv", "limit": 2})
    lines = response.content.decode().splitlines()
    assert lines[0] == "part,value,name,url,clicks,uniqueClicks,isRest,isUnset"
    assert [line.split(",")[-2:] for line in lines if line.startswith("groups,other,")] == [
        ["false", "false"],
        ["true", "false"],
    ]


@time_machine.travel("2026-03-08T12:30Z")
def test_a_report_is_compared_with_another_period(api: APIClient, link: str) -> None:
    years = [
        Fact("2025-03-01T23:59Z"),
        Fact("2025-03-02T00:00Z", count=3, visitor="a"),
        Fact("2026-02-22T23:59Z"),
        Fact("2026-02-23T00:00Z", count=2, visitor="a"),
        Fact("2026-03-01T23:59Z", "FR", visitor="b"),
        Fact("2026-03-07T12:59Z"),
    ]
    record(link, [*years, *FACTS])
    for path in (f"/api/analytics/{link}", "/api/analytics"):
        for query, compare, clicks, steps in (
            (QUERY, "previous", 3, ("2026-02-23", "2026-03-01")),
            ({"period": "7d"}, "previous", 3, ("2026-02-23", "2026-03-01")),
            (QUERY, "year", 3, ("2025-03-02", "2025-03-08")),
            ({**QUERY, "country": "FR"}, "previous", 1, ("2026-02-23", "2026-03-01")),
            ({"period": "mtd"}, "previous", 3, ("2026-02-21", "2026-02-28")),
            ({"period": "24h"}, "previous", 1, ("2026-03-06T13:00:00Z", "2026-03-07T12:00:00Z")),
            ({"period": "24h"}, "year", 0, ("2025-03-07T13:00:00Z", "2025-03-08T12:00:00Z")),
        ):
            data = api.get(path, {**query, "compare": compare}).json()["data"]
            other = data["compared"]
            assert other["totalClicks"] == sum(row["clicks"] for row in other["clicksByDate"]) == clicks, (
                query
            )
            assert (other["clicksByDate"][0]["date"], other["clicksByDate"][-1]["date"]) == steps, query
            alone = api.get(path, query).json()["data"]
            assert {**alone, "compared": other} == data
            assert other.keys() == {
                *(
                    "totalClicks",
                    "uniqueClicks",
                    "importedClicks",
                    "scans",
                    "clicksByDate",
                    "notCounted",
                    "refused",
                )
            }
        assert broken_rules(api.get(path, {"period": "all", "compare": "year"})) == [("compare", "range")]
    leap = {"startDate": "2024-02-29", "endDate": "2024-02-29", "compare": "year"}
    assert report(api, link, **leap)["compared"]["clicksByDate"][0]["date"] == "2023-02-28"
