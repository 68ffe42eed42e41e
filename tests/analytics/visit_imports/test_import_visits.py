"""`manage.py import_visits`: visits of other services become clicks by day in the reports, once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from analytics.counting.audit import differences
from analytics.counting.closed_days import close_days
from analytics.counting.days import IMPORTED
from analytics.counting.imported_days import add_days
from analytics.counting.retention import delete_clicks_of_deleted_links
from analytics.models import DayTotal, MonthCount
from links.models import DeletedLink, Link
from testing.analytics.clicks import drain
from testing.links.many import URL, imported
from testing.threads import at_once
from tests.analytics.reading import report
from tests.analytics.visit_imports.visit_files import (
    GOATCOUNTER,
    SHLINK_VISIT,
    YOURLS,
    clicks_by_day,
    rows_of_reports,
    run,
)
from tests.analytics.visit_imports.visit_files import file as file
from tests.analytics.visit_imports.visit_files import links as links

MakeLink = Callable[..., dict[str, Any]]

SHLINK_CSV = """date,potentialBot,userAgent,browser,os,referer,country,city,latitude,longitude,visitedUrl,type
2024-03-01T10:30:00+01:00,false,Mozilla/5.0,Firefox,Linux,Direct,Germany,Berlin,,,https://s.test/my-link?a=b,
2024-03-02T00:30:00+01:00,false,Mozilla/5.0,Firefox,Linux,Direct,Germany,Berlin,,,https://s.test/my%2Dlink,
2024-03-03T09:30:00+00:00,false,Mozilla/5.0,Firefox,Linux,Direct,Germany,Berlin,,,https://s.test/my-link,
2024-03-03T09:31:00+00:00,true,curl,Others,Others,Direct,Germany,Berlin,,,https://s.test/my-link,
2024-03-03T09:32:00+00:00,false,Mozilla/5.0,Firefox,Linux,Direct,,,,,https://s.test/,base_url
2024-03-03T09:33:00+00:00,false,Mozilla/5.0,Firefox,Linux,Direct,,,,,https://s.test/other,
"""
SHLINK_API = json.dumps(
    {
        "visits": {
            "data": [
                SHLINK_VISIT | {"date": "2024-03-01T09:30:00+00:00", "visitedUrl": "https://s.test/my-link"},
                SHLINK_VISIT | {"date": "2024-03-01T09:30:01+00:00", "visitedUrl": "https://s.test/my-link"},
                SHLINK_VISIT | {"date": "2024-03-03T09:30:00+00:00", "visitedUrl": "https://s.test/my-link"},
                SHLINK_VISIT | {"date": "2024-03-03T09:30:00+00:00", "visitedUrl": "https://s.test/other"},
                SHLINK_VISIT | {"date": "2024-03-03T09:30:00+00:00", "potentialBot": True},
            ],
            "pagination": {"currentPage": 1, "pagesCount": 1, "totalItems": 5},
        }
    }
)
FILES = {
    "yourls": ("yourls", YOURLS, 0),
    "shlink, CSV": ("shlink", SHLINK_CSV, 2),
    "shlink, API": ("shlink", SHLINK_API, 1),
    "goatcounter": ("goatcounter", GOATCOUNTER, 2),
    "goatcounter, version 1": ("goatcounter", GOATCOUNTER.replace("2Path", "1Path"), 2),
}


@pytest.mark.parametrize("name", FILES)
def test_visits_become_clicks_by_day(name: str, api: APIClient, links: dict[str, Any], file: Path) -> None:
    layout, content, uncounted = FILES[name]
    file.write_text(content)
    before = rows_of_reports()
    summary = f"4 of 4 visits {{}} ({layout}), {uncounted} rows do not count, 0 rows were refused."
    lines = ["http://sho.rt/my-link: visits 3, days 2", "http://sho.rt/other: visits 1, days 1"]
    assert run(file) == ([*lines, summary.format("can be added") + " Use --apply to add them."], 0)
    assert rows_of_reports() == before
    assert run(file, "--apply") == ([*lines, summary.format("were added")], 0)

    link = links["my-link"]
    assert clicks_by_day(api, link) == {"2024-03-01": 2, "2024-03-03": 1}
    assert report(api, link["_id"])["totalClicks"] == 3
    assert set(DayTotal.objects.values_list("slot", flat=True)) == {IMPORTED}
    assert list(differences()) == []


def test_a_repeated_import_adds_nothing(api: APIClient, links: dict[str, Any], file: Path) -> None:
    file.write_text(YOURLS)
    run(file, "--apply")
    close_days(busy=1)
    before = rows_of_reports()
    assert all(before)
    for _ in range(2):
        lines, status = run(file, "--apply")
        assert (lines[-1], status) == (
            "0 of 4 visits were added (yourls), 0 rows do not count, 0 rows were refused.",
            0,
        )
    assert rows_of_reports() == before


def test_a_longer_file_adds_only_what_is_new(api: APIClient, links: dict[str, Any], file: Path) -> None:
    file.write_text("".join(YOURLS.splitlines(keepends=True)[:2]))
    assert run(file, "--apply")[0][-1].startswith("1 of 1 visits were added")
    close_days(busy=1)
    assert MonthCount.objects.exists()
    file.write_text(YOURLS)
    assert run(file, "--apply")[0][-1].startswith("3 of 4 visits were added")
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 2, "2024-03-03": 1}
    assert list(differences()) == []


def test_visits_that_the_total_already_contains_are_not_counted_twice(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    """The link with 10 imported clicks keeps them, the link with none gets one."""
    file.write_text(YOURLS)
    run(file, "--apply")
    whole = {code: api.get(f"/api/urls/{link['_id']}").json()["data"]["url"] for code, link in links.items()}
    assert {code: (link["clickCount"], link["importedClicks"]) for code, link in whole.items()} == {
        "my-link": (10, 10),
        "other": (1, 1),
    }
    assert api.get("/api/urls/stats").json()["totalClicks"] == 11


def test_own_clicks_are_added_to_imported_ones(
    api: APIClient, links: dict[str, Any], visitor: Client, file: Path
) -> None:
    assert visitor.get("/my-link").status_code == 302
    drain()
    today = datetime.now(UTC)
    file.write_text(f"click_id,click_time,shorturl\n1,{today:%Y-%m-%d} 00:00:00,my-link\n")
    run(file, "--apply")
    assert visitor.get("/my-link").status_code == 302
    drain()
    link = links["my-link"]
    shown = report(api, link["_id"])
    assert (shown["totalClicks"], shown["uniqueClicks"], shown["importedClicks"]) == (3, 1, 1)
    assert clicks_by_day(api, link) == {f"{today:%Y-%m-%d}": 3}
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 12
    assert list(differences()) == []


def test_a_report_says_how_many_of_its_clicks_were_imported(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    file.write_text(YOURLS)
    run(file, "--apply")
    link = links["my-link"]["_id"]
    ranges: dict[int, dict[str, str]] = {
        3: {},
        2: {"startDate": "2024-03-01", "endDate": "2024-03-02"},
        1: {"startDate": "2024-03-03", "endDate": "2024-03-04", "timezone": "Pacific/Auckland"},
        0: {"startDate": "2024-03-02", "endDate": "2024-03-02"},
    }
    for clicks, query in ranges.items():
        shown = report(api, link, **query)
        assert (shown["importedClicks"], shown["totalClicks"]) == (clicks, clicks)


def test_every_report_has_the_imported_clicks(api: APIClient, links: dict[str, Any], file: Path) -> None:
    """Lifetime, range, other zone, month, and the values of each dimension."""
    file.write_text(YOURLS)
    run(file, "--apply")
    link = links["my-link"]["_id"]
    for query in ({}, {"startDate": "2024-02-01", "endDate": "2024-04-01"}):
        for zone in ("UTC", "America/Los_Angeles", "Asia/Tokyo"):
            shown = report(api, link, timezone=zone, **query)
            assert shown["totalClicks"] == 3
            assert {day["date"]: day["clicks"] for day in shown["clicksByDate"] if day["clicks"]} == {
                "2024-03-01": 2,
                "2024-03-03": 1,
            }
            assert [(entry["country"], entry["clicks"]) for entry in shown["topCountries"]] == [
                ("unknown", 3)
            ]
            assert [(entry["referrer"], entry["clicks"]) for entry in shown["topReferrers"]] == [
                ("unknown", 3)
            ]
            cities = report(api, link, "/geographic", timezone=zone, **query)["cities"]
            assert [(city["country"], city["name"], city["clicks"]) for city in cities] == [
                ("unknown", "unknown", 3)
            ]
            devices = report(api, link, "/devices", timezone=zone, **query)["devices"]
            assert [(device["type"], device["clicks"]) for device in devices] == [("unknown", 3)]
    months = report(api, link, interval="month")["clicksByDate"]
    assert [month for month in months if month["clicks"]] == [
        {"date": "2024-03", "clicks": 3, "uniqueClicks": 0}
    ]
    one_day = report(api, link, startDate="2024-03-03", endDate="2024-03-03")
    assert one_day["totalClicks"] == 1


def test_days_that_close_after_an_import_are_in_the_lifetime_counts_once(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    recent = datetime.now(UTC) - timedelta(days=1)
    file.write_text(
        f"click_id,click_time,shorturl\n1,2024-03-01 00:00:00,my-link\n2,{recent:%Y-%m-%d} 00:00:00,my-link\n"
    )
    close_days()
    run(file, "--apply")
    close_days()
    assert list(differences()) == []
    shown = report(api, links["my-link"]["_id"])
    assert (shown["totalClicks"], [entry["clicks"] for entry in shown["topCountries"]]) == (2, [2])


def test_deleting_a_link_deletes_its_imported_days(api: APIClient, links: dict[str, Any], file: Path) -> None:
    file.write_text(YOURLS)
    run(file, "--apply")
    close_days(busy=1)
    assert all(rows_of_reports())
    api.post("/api/urls/bulk-delete", {"ids": [link["_id"] for link in links.values()]})
    assert list(differences()) == []
    # Until then, they could come back.
    DeletedLink.objects.all().delete()
    delete_clicks_of_deleted_links()
    assert rows_of_reports() == [[], [], [], [], [], [], []]
    assert api.get("/api/urls/stats").json()["totalClicks"] == 0


@pytest.mark.django_db(transaction=True)
def test_simultaneous_imports_of_a_file_add_it_once(api: APIClient) -> None:
    imported(api, json.dumps({"originalUrl": URL, "customCode": "my-link"}))
    link = Link.objects.get(custom_code="my-link")
    days = {(link.pk, date(2024, 3, day)): day for day in range(1, 31)}
    added = at_once([lambda: add_days(days)] * 4)
    assert sorted(added) == [0, 0, 0, sum(days.values())]
    assert list(differences()) == []
