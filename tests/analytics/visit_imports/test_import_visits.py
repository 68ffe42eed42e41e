"""`manage.py import_visits`: visits of other services become clicks by day in the reports, once."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting.audit import differences
from analytics.counting.retention.deletion import delete_clicks_of_deleted_links
from analytics.counting.tables.imported_days import LOCK, add_days
from analytics.counting.tables.lifetime_counts import close_days
from analytics.counting.tables.slots import IMPORTED
from analytics.models import BusyMonth, DayCount, DayTotal, LifeCount, MonthCount, QuarterTotal
from analytics.visit_imports import services
from domains.models import Domain
from links.models import ClickCounter, DeletedLink, Link
from testing.analytics.clicks import drain
from testing.links.many import URL, imported
from testing.threads import at_once
from tests.analytics.reading import report

MakeLink = Callable[..., dict[str, Any]]

YOURLS = """click_id,click_time,shorturl,referrer,user_agent,ip_address,country_code
1,2024-03-01 09:30:00,my-link,direct,Mozilla/5.0,203.0.113.9,DE
2,2024-03-01 23:59:59,my-link,https://example.org/,Mozilla/5.0,203.0.113.9,FR
3,2024-03-03 00:00:00,my-link,direct,Mozilla/5.0,203.0.113.9,
4,2024-03-03 12:00:00,other,direct,curl/8,203.0.113.9,
"""
SHLINK_CSV = """date,potentialBot,userAgent,browser,os,referer,country,city,latitude,longitude,visitedUrl,type
2024-03-01T10:30:00+01:00,false,Mozilla/5.0,Firefox,Linux,Direct,Germany,Berlin,,,https://s.test/my-link?a=b,
2024-03-02T00:30:00+01:00,false,Mozilla/5.0,Firefox,Linux,Direct,Germany,Berlin,,,https://s.test/my%2Dlink,
2024-03-03T09:30:00+00:00,false,Mozilla/5.0,Firefox,Linux,Direct,Germany,Berlin,,,https://s.test/my-link,
2024-03-03T09:31:00+00:00,true,curl,Others,Others,Direct,Germany,Berlin,,,https://s.test/my-link,
2024-03-03T09:32:00+00:00,false,Mozilla/5.0,Firefox,Linux,Direct,,,,,https://s.test/,base_url
2024-03-03T09:33:00+00:00,false,Mozilla/5.0,Firefox,Linux,Direct,,,,,https://s.test/other,
"""
_SHLINK_VISIT = {"referer": "", "userAgent": "Mozilla/5.0", "visitLocation": None, "potentialBot": False}
SHLINK_API = json.dumps(
    {
        "visits": {
            "data": [
                _SHLINK_VISIT | {"date": "2024-03-01T09:30:00+00:00", "visitedUrl": "https://s.test/my-link"},
                _SHLINK_VISIT | {"date": "2024-03-01T09:30:01+00:00", "visitedUrl": "https://s.test/my-link"},
                _SHLINK_VISIT | {"date": "2024-03-03T09:30:00+00:00", "visitedUrl": "https://s.test/my-link"},
                _SHLINK_VISIT | {"date": "2024-03-03T09:30:00+00:00", "visitedUrl": "https://s.test/other"},
                _SHLINK_VISIT | {"date": "2024-03-03T09:30:00+00:00", "potentialBot": True},
            ],
            "pagination": {"currentPage": 1, "pagesCount": 1, "totalItems": 5},
        }
    }
)
GOATCOUNTER = """2Path,Title,Event,User-Agent,Browser,System,Session,Bot,Referrer,Location,FirstVisit,Date
/my-link,,false,,Firefox 120,Linux,1,0,,DE,true,2024-03-01T09:30:00Z
/my-link,,false,,Firefox 120,Linux,1,0,,DE,false,2024-03-01T09:31:00Z
/my-link,,false,,Firefox 120,Linux,2,0,,DE,true,2024-03-03T09:30:00Z
/my-link,,false,,bot,,3,7,,DE,true,2024-03-03T09:30:00Z
my-link,,true,,Firefox 120,Linux,2,0,,DE,true,2024-03-03T09:30:00Z
/other,,false,,Firefox 120,Linux,2,0,,DE,true,2024-03-03T09:30:00Z
"""
FILES = {
    "yourls": ("yourls", YOURLS, 0),
    "shlink, CSV": ("shlink", SHLINK_CSV, 2),
    "shlink, API": ("shlink", SHLINK_API, 1),
    "goatcounter": ("goatcounter", GOATCOUNTER, 2),
    "goatcounter, version 1": ("goatcounter", GOATCOUNTER.replace("2Path", "1Path"), 2),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "visits"


@pytest.fixture
def links(api: APIClient) -> dict[str, dict[str, Any]]:
    """Two links imported with all their clicks, and their creation dates."""
    rows = [
        {"originalUrl": URL, "customCode": code, "clickCount": clicks, "createdAt": "2024-02-01"}
        for code, clicks in (("my-link", 10), ("other", 0))
    ]
    verdicts = imported(api, "\n".join(map(json.dumps, rows)))
    return {verdict["url"]["customCode"]: verdict["url"] for verdict in verdicts}


def run(file: Path, *arguments: str | Path) -> tuple[list[str], int]:
    output, status = StringIO(), 0
    try:
        call_command(
            "import_visits", str(file), *map(str, arguments), "--owner", "Alice@example.com", stdout=output
        )
    except SystemExit as end:
        status = int(end.code or 0)
    return output.getvalue().splitlines(), status


def clicks_by_day(api: APIClient, link: dict[str, Any], **query: object) -> dict[str, int]:
    days = report(api, link["_id"], **query)["clicksByDate"]
    return {day["date"]: day["clicks"] for day in days if day["clicks"]}


def rows_of_reports() -> list[list[dict[str, Any]]]:
    return [
        sorted(model.objects.values(), key=repr)
        for model in (DayTotal, QuarterTotal, DayCount, LifeCount, BusyMonth, MonthCount, ClickCounter)
    ]


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
    assert (shown["totalClicks"], shown["uniqueClicks"]) == (3, 1)
    assert clicks_by_day(api, link) == {f"{today:%Y-%m-%d}": 3}
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 12
    assert list(differences()) == []


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


# Which link


def test_other_accounts_links_and_unknown_codes_are_refused(
    api: APIClient, strange_api: APIClient, stranger: NewAccount, file: Path
) -> None:
    imported(strange_api, json.dumps({"originalUrl": URL, "customCode": "my-link"}))
    file.write_text(YOURLS)
    before = rows_of_reports()
    assert run(file, "--apply") == (
        [
            "refused, not_found: http://sho.rt/my-link: visits 3, days 2",
            "refused, not_found: http://sho.rt/other: visits 1, days 1",
            "0 of 4 visits were added (yourls), 0 rows do not count, 0 rows were refused.",
        ],
        1,
    )
    assert rows_of_reports() == before


def test_visits_stay_on_their_domain_or_go_to_the_named_one(
    api: APIClient, alice: NewAccount, file: Path
) -> None:
    domain = Domain.objects.create(owner=alice.workspace, domain="s.test", host="s.test", status="active")
    ids = {}
    for domain_id in ("base", str(domain.public_id)):
        [verdict] = imported(
            api, json.dumps({"originalUrl": URL, "customCode": "my-link"}), domainId=domain_id
        )
        ids[domain_id] = verdict["url"]["_id"]
    on_base, on_domain = ids.values()
    file.write_text(
        json.dumps(_SHLINK_VISIT | {"date": "2024-03-01T09:30:00Z", "visitedUrl": "https://s.test/my-link"})
    )
    for arguments, link in (((), on_domain), (("--domain", "base"), on_base)):
        assert run(file, "--apply", *arguments)[1] == 0
        assert report(api, link)["totalClicks"] == 1
    file.write_text("click_id,click_time,shorturl\n1,2024-03-02 00:00:00,my-link\n")
    assert run(file, "--apply", "--domain", "S.test")[0][0] == "https://s.test/my-link: visits 1, days 1"
    assert (report(api, on_domain)["totalClicks"], report(api, on_base)["totalClicks"]) == (2, 1)


def shlink_visits(*addresses: str) -> str:
    visit = _SHLINK_VISIT | {"date": "2024-03-01T09:30:00Z"}
    return json.dumps([visit | {"visitedUrl": address} for address in addresses])


def test_hosts_are_compared_without_port_and_user(api: APIClient, alice: NewAccount, file: Path) -> None:
    domain = Domain.objects.create(owner=alice.workspace, domain="s.test", host="s.test", status="active")
    imported(api, json.dumps({"originalUrl": URL, "customCode": "my-link"}), domainId=str(domain.public_id))
    file.write_text(
        shlink_visits("http://S.test:8080/my-link", "https://me@s.test/my-link", "https://s.test./my-link")
    )
    assert run(file, "--apply") == (
        [
            "https://s.test/my-link: visits 3, days 1",
            "3 of 3 visits were added (shlink), 0 rows do not count, 0 rows were refused.",
        ],
        0,
    )


@pytest.mark.parametrize("status", ["inactive", "pending"])
def test_visits_of_a_deactivated_domain_stay_there_but_a_claim_is_no_domain(
    api: APIClient, alice: NewAccount, links: dict[str, Any], file: Path, status: str
) -> None:
    domain = Domain.objects.create(owner=alice.workspace, domain="s.test", host="s.test", status="active")
    imported(api, json.dumps({"originalUrl": URL, "customCode": "my-link"}), domainId=str(domain.public_id))
    Domain.objects.update(status=status)
    file.write_text(shlink_visits("https://s.test/my-link"))
    address = {"inactive": "https://s.test/my-link", "pending": "http://sho.rt/my-link"}[status]
    assert run(file, "--apply")[0][0] == f"{address}: visits 1, days 1"
    assert clicks_by_day(api, links["my-link"]) == {"inactive": {}, "pending": {"2024-03-01": 1}}[status]


def test_a_code_on_several_foreign_hosts_is_refused(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    hosts = ("a.test", "b.test", "sho.rt", "a.test")
    file.write_text(shlink_visits(*(f"https://{host}/my-link" for host in hosts), "https://a.test/other"))
    assert run(file, "--apply") == (
        [
            "refused, ambiguous_host: a.test/my-link: visits 2, days 1",
            "refused, ambiguous_host: b.test/my-link: visits 1, days 1",
            "http://sho.rt/my-link: visits 1, days 1",
            "http://sho.rt/other: visits 1, days 1",
            "2 of 5 visits were added (shlink), 0 rows do not count, 0 rows were refused.",
        ],
        1,
    )
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 1}
    assert run(file, "--apply", "--domain", "base")[1] == 0
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 4}


# Several files


def test_a_day_in_several_files_is_added_up(api: APIClient, links: dict[str, Any], file: Path) -> None:
    header, *rows = YOURLS.splitlines(keepends=True)
    second = file.with_name("second")
    file.write_text(header + rows[0] + "9,never,my-link\n")
    second.write_text(header + "".join(rows[1:]) + "9,,my-link\n")
    for added in (4, 0):
        assert run(file, second, "--apply") == (
            [
                f"{file}, row 2: refused, validation_error: click_time: Must be a date and time.",
                f"{second}, row 4: refused, validation_error: click_time: Must be a date and time.",
                "http://sho.rt/my-link: visits 3, days 2",
                "http://sho.rt/other: visits 1, days 1",
                f"{added} of 4 visits were added (yourls), 0 rows do not count, 2 rows were refused.",
            ],
            1,
        )
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 2, "2024-03-03": 1}


def test_an_error_names_the_file_and_no_file_counts_twice(alice: NewAccount, file: Path) -> None:
    file.write_text(YOURLS)
    second = file.with_name("second")
    second.write_bytes(b"")
    with pytest.raises(CommandError, match=f"^{second}: content: The file contains no visits.$"):
        run(file, second, "--apply")
    with pytest.raises(CommandError, match=r"^The same file is named twice: .* Nothing was added\.$"):
        run(file, file.parent / "." / file.name, "--apply")


def test_former_codes_count_for_their_link(api: APIClient, links: dict[str, Any], file: Path) -> None:
    api.put(f"/api/urls/{links['my-link']['_id']}", {"customCode": "renamed"})
    file.write_text(YOURLS + "5,2024-03-01 00:00:00,renamed,,,,\n")
    assert run(file, "--apply")[0][-1].startswith("5 of 5 visits were added")
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 3, "2024-03-03": 1}


def test_a_file_of_one_link_needs_its_code(api: APIClient, links: dict[str, Any], file: Path) -> None:
    file.write_text("date,potentialBot,browser\n2024-03-01T09:30:00+00:00,false,Firefox\n")
    assert run(file, "--apply")[0] == [
        "0 of 0 visits were added (shlink), 1 rows do not count, 0 rows were refused."
    ]
    assert run(file, "--apply", "--code", "my-link")[0][-1].startswith("1 of 1 visits were added")


# Invalid files


def test_bad_rows_are_refused_one_by_one(api: APIClient, links: dict[str, Any], file: Path) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    bad = [
        "0000-00-00 00:00:00",
        "yesterday",
        "",
        "2024-13-01 00:00:00",
        "1999-12-31 00:00:00",
        f"{tomorrow:%Y-%m-%d} 00:00",
        "0001-01-01T00:00:00+10:00",
    ]
    rows = [f"{number},{time},my-link" for number, time in enumerate([*bad, "2024-03-01 00:00:00"])]
    file.write_text("\n".join(["click_id,click_time,shorturl", *rows, "9,9,9,9"]))
    lines, status = run(file, "--apply")
    assert [line.split(":")[0] for line in lines[:8]] == [str(row) for row in (1, 2, 3, 4, 5, 6, 7, 9)]
    assert {line.split(": ")[1] for line in lines[:8]} == {"refused, validation_error"}
    assert (lines[-1], status) == (
        "1 of 1 visits were added (yourls), 0 rows do not count, 8 rows were refused.",
        1,
    )


def test_control_characters_are_neither_looked_up_nor_printed(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    file.write_text(GOATCOUNTER + "/%00x%1b[2J,,false,,,Linux,1,0,,DE,true,2024-03-01T09:30:00Z\n")
    lines, status = run(file, "--apply")
    assert lines[2:] == [
        "refused, not_found: http://sho.rt/%00x%1B%5B2J: visits 1, days 1",
        "4 of 5 visits were added (goatcounter), 2 rows do not count, 0 rows were refused.",
    ]
    assert status == 1
    file.write_text(shlink_visits("https://a\x1bc.test/my-link", "https://b.test/my-link"))
    assert run(file)[0][0] == "refused, ambiguous_host: a%1Bc.test/my-link: visits 1, days 1"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "content: The file contains no visits."),
        (
            b"a,b\n1,2\n",
            "content: Unrecognised format: these are not visits of YOURLS, Shlink or GoatCounter.",
        ),
        (b"3Path,Date\n/a,2024-03-01\n", "content: Unrecognised format: .*"),
        (b"click_time,shorturl\n\xff,a\n", "The file is not valid UTF-8. Nothing was added."),
    ],
)
def test_errors_in_a_file_are_reported(alice: NewAccount, file: Path, content: bytes, complaint: str) -> None:
    file.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{complaint}$"):
        run(file)


def test_ctrl_c_finishes_the_batch_and_a_second_run_adds_the_rest(
    api: APIClient, links: dict[str, Any], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "BATCH", 1)
    real = services.add_days

    def interrupted(days: Any) -> int:
        signal.raise_signal(signal.SIGINT)
        return real(days)

    monkeypatch.setattr(services, "add_days", interrupted)
    file.write_text(YOURLS)
    lines, status = run(file, "--apply")
    assert (lines[-1], status) == (
        "Interrupted. Each batch was added as a whole or not at all. Run the same command again to continue: no visit"
        " is added twice.",
        130,
    )
    assert list(differences()) == []
    monkeypatch.setattr(services, "add_days", real)
    assert run(file, "--apply")[1] == 0
    assert [report(api, link["_id"])["totalClicks"] for link in links.values()] == [3, 1]
    assert list(differences()) == []


def test_ctrl_c_in_a_dry_run_adds_nothing(
    links: dict[str, Any], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "BATCH", 1)
    real = services.new_clicks

    def interrupted(days: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(days)

    monkeypatch.setattr(services, "new_clicks", interrupted)
    file.write_text(YOURLS)
    lines, status = run(file)
    assert (lines[-1], status) == ("Interrupted. Nothing was added.", 130)


def test_a_lock_timeout_says_how_to_continue(links: dict[str, Any], file: Path) -> None:
    file.write_text(YOURLS)
    other = connection.copy()
    try:
        with other.cursor() as cursor, connection.cursor() as own:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            own.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(
                CommandError,
                match=r"^The database failed: .*lock timeout.* Each batch was added as a whole or not at all\."
                r" Run the same command again to continue\.$",
            ):
                run(file, "--apply")
    finally:
        other.close()
    assert run(file, "--apply")[0][-1].startswith("4 of 4 visits were added")
