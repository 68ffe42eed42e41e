"""The page of a shared report: what it shows to whom, and that nothing else can be asked for through it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from threading import BoundedSemaphore
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts import admission
from accounts.admission import (
    PUBLIC_REPORTS_PER_WORKSPACE,
    REPORTS_PER_WORKSPACE,
    Admission,
    costly_report,
)
from accounts.services import NewAccount
from analytics.models import Share
from analytics.reports import scope, selected
from analytics.reports.costs import ReportTooSlow
from analytics.serializers import (
    ClicksQuery,
    ErasureQuery,
    OverviewQuery,
    SparklinesQuery,
    ValuesQuery,
    WorkspaceQuery,
)
from analytics.shares import kept
from bans.services import ban_account, ban_host
from links.models import Link, LinkBan, SavedView
from testing.analytics.facts import Fact, record
from testing.analytics.shared_reports import at, click_on, create_view, reader, share

MakeLink = Callable[..., dict[str, Any]]
EXPIRED = "2000-01-01T00:00:00Z"
POLICY = re.compile(
    r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; form-action 'self'; "
    r"frame-ancestors 'none'; base-uri 'none'"
)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is read for itself."""
    monkeypatch.setattr(kept, "SECONDS", 0)


def read(path: str, status: int = 200, language: str = "en") -> str:
    response = reader(language).get(path)
    assert response.status_code == status, response.content
    return checked(response)


def checked(response: HttpResponse) -> str:
    """The page, which sets no cookie and loads nothing."""
    assert not response.cookies
    assert response["Cache-Control"] == "no-store"
    text = response.content.decode()
    if response["Content-Type"].startswith("text/html"):
        assert "<script" not in text
        assert "url(" not in text
        assert "default-src 'none'" in response["Content-Security-Policy"]
    return text


def rows(path: str) -> list[list[str]]:
    [head, *others] = csv.reader(read(f"{path}.csv").splitlines())
    assert head == ["list", "value", "clicks", "uniqueClicks", "isRest"]
    assert {row.pop() for row in others} <= {"true", "false"}
    return others


def figures(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>(.+?)</dt><dd>(.+?)</dd>", page))


def test_a_view_is_shared_with_its_figures_curve_lists_and_file(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="=Spring <b>sale</b>", customCode="sale", tags=["spring"])
    other = make_link(title="Secret launch", customCode="secret")
    click_on(link["_id"])
    click_on(other["_id"])
    path, _ = share(api, viewId=create_view(api, tags="spring", period="7d"))

    response = reader().get(path)
    page = checked(response)
    assert POLICY.fullmatch(response["Content-Security-Policy"])
    assert (response["X-Robots-Tag"], response["Referrer-Policy"]) == (
        "noindex",
        "strict-origin-when-cross-origin",
    )
    assert figures(page) == {"Clicks": "4", "Daily unique visitors": "3", "QR scans": "0"}
    assert '<h1 dir="auto">Spring campaign</h1>' in page
    assert (
        '<a href="http://sho.rt/sale" rel="nofollow noreferrer">=Spring &lt;b&gt;sale&lt;/b&gt;</a>' in page
    )
    assert ("Germany" in page, "Paris, France" in page, "secret" in page.lower()) == (True, True, False)
    assert page.count("<polyline") == 1
    assert "<p>sho.rt · As of " in page
    # In the language of the browser, with its numbers and dates.
    german = read(path, language="de-AT")
    assert figures(german) == {"Klicks": "4", "Einzelne Besucher je Tag": "3", "QR-Scans": "0"}
    assert (
        "Deutschland" in german,
        '<html lang="de">' in german,
        "75,0\u00a0%" in german or "75,0 %" in german,
    ) == (True, True, True)

    table = rows(path)
    assert table[:2] == [["total", "", "4", "3"], ["scans", "", "0", ""]]
    assert [row for row in table if row[0] == "clicksByDate"][-1] == ["clicksByDate", at(0)[:10], "4", "3"]
    assert [row[1:3] for row in table if row[0] == "topCities"] == [["DE Berlin", "3"], ["FR Paris", "1"]]
    assert [row for row in table if row[0] == "topUrls"] == [["topUrls", "http://sho.rt/sale", "4", "3"]]
    assert reader().head(path).status_code == 200


def test_a_link_is_shared_alone(api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link(title="=1+1"), make_link(title="Other")
    click_on(link["_id"])
    click_on(other["_id"])
    path, _ = share(api, urlId=link["_id"], noIndex=False)
    assert figures(read(path))["Clicks"] == "6"
    # The days are those of the share's time zone.
    elsewhere, _ = share(api, urlId=link["_id"], period="today", timezone="Pacific/Kiritimati")
    assert [row[1] for row in rows(elsewhere) if row[0] == "clicksByDate"] == [
        datetime.now(ZoneInfo("Pacific/Kiritimati")).date().isoformat()
    ]
    assert "Other" not in read(path)
    assert not reader().get(path).has_header("X-Robots-Tag")
    # The period can be changed, and the page has the report of now.
    [_, shared] = api.get("/api/analytics/shares").json()["data"]["shares"]
    assert api.patch(f"/api/analytics/shares/{shared['_id']}", {"period": "7d"}).status_code == 200
    assert figures(read(path))["Clicks"] == "4"
    assert "'=" not in read(path)


def test_cells_of_the_file_are_no_formulas(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    record(link["_id"], [Fact(at(0), referrer="=cmd.example.com")])
    path, _ = share(api, urlId=link["_id"])
    assert ["topReferrers", "'=cmd.example.com", "1", ""] in rows(path)


QUERIES = (WorkspaceQuery, OverviewQuery, ValuesQuery, ClicksQuery, SparklinesQuery, ErasureQuery)
PARAMETERS = sorted({name for query in QUERIES for name in query._declared_fields})
# A value of each that would show something else, if a page read it.
VALUES = {
    "period": "all",
    "startDate": "2020-01-01",
    "endDate": "2020-01-02",
    "timezone": "Pacific/Auckland",
    "compare": "previous",
    "groupBy": "url",
    "interval": "month",
    "limit": "1",
    "cursor": "x",
    "before": "2100-01-01",
    "fromClickCount": "true",
    "tags": "other",
    "tagsMode": "any",
    "excludeTags": "spring",
    "domainId": "base",
    "kind": "bot",
}


def test_no_parameter_of_any_report_changes_a_page(api: APIClient, make_link: MakeLink) -> None:
    """All parameters that reports declare, alone and all at once, in the address and in the body of a form."""
    link = make_link(title="Shared", tags=["spring"])
    other = make_link(title="Secret launch", tags=["other"])
    for made in (link, other):
        click_on(made["_id"])
    path, _ = share(api, viewId=create_view(api, tags="spring", country="DE", period="7d"))
    password_path, _ = share(api, urlId=link["_id"], period="7d", password="open sesame")
    assert {"urlIds", "tags", "country", "startDate", "period", "cursor", "groupBy"} <= set(PARAMETERS)
    values = {name: VALUES.get(name, other["_id"]) for name in PARAMETERS}
    values |= {"viewId": create_view(api, "Everything"), "urlId": other["_id"], "password": "x", "token": "x"}
    expected = without_time(read(path)), read(f"{path}.csv")
    assert figures(expected[0])["Clicks"] == "3"
    for query in (*({name: value} for name, value in values.items()), values):
        for shown, suffix in zip(expected, ("", ".csv"), strict=True):
            for response in (
                reader().get(path + suffix, query),
                reader().post(path + suffix, query),
                reader().post(f"{path}{suffix}?{'&'.join(f'{n}={v}' for n, v in query.items())}"),
            ):
                assert response.status_code == 200
                assert without_time(checked(response)) == shown, query
        # Nothing but the right password opens the other one, and it shows nothing before.
        locked = reader().get(password_path, query)
        assert (locked.status_code, "Shared" in checked(locked)) == (401, False)
    unlocked = reader().post(password_path, {**values, "password": "open sesame"})
    assert "Secret" not in checked(unlocked)
    assert figures(unlocked.content.decode())["Clicks"] == "4"


def without_time(page: str) -> str:
    return re.sub(r"As of .*? \(UTC\)", "", page)


def test_what_has_ended_is_gone_without_a_hint(
    api: APIClient, alice: Any, stranger: Any, make_link: MakeLink
) -> None:
    link, moved = make_link(title="Secret launch"), make_link(title="Secret launch")
    ways: dict[str, Callable[[str], Any]] = {
        "revoked": lambda share_id: api.delete(f"/api/analytics/shares/{share_id}"),
        "expired": lambda share_id: Share.objects.filter(public_id=share_id).update(expires_at=EXPIRED),
        "view deleted": lambda share_id: api.delete(f"/api/views/{view_of(share_id)}"),
        "no report": lambda share_id: api.patch(f"/api/views/{view_of(share_id)}", {"report": None}),
        "link deleted": lambda _: api.delete(f"/api/urls/{link['_id']}"),
        "link moved": lambda _: move(moved["_id"], stranger),
    }

    def view_of(share_id: str) -> str:
        return str(Share.objects.get(public_id=share_id).view_id)

    for way, end in ways.items():
        if way.startswith("link"):
            subject = {"urlId": (link if way == "link deleted" else moved)["_id"]}
        else:
            subject = {"viewId": create_view(api, f"Secret {way}")}
        path, shared = share(api, **subject, password="open sesame")
        assert reader().get(path).status_code == 401
        end(shared["_id"])
        for suffix in ("", ".csv"):
            for response in (reader().get(path + suffix), reader().post(path + suffix, {"password": "x"})):
                assert (response.status_code, response["X-Robots-Tag"]) == (410, "noindex"), way
                page = checked(response)
                assert "No longer shared" in page
                assert not re.search("secret|launch|password|clicks", page, re.IGNORECASE), page
        as_json = reader().get(path, headers={"accept": "application/json"})
        assert as_json.json() == {
            "success": False,
            "message": "This report is no longer shared. Ask its sender for a new address.",
            "reason": "share_ended",
        }
    # A deleted link comes back with its shares.
    assert api.post(f"/api/urls/{link['_id']}/undelete").status_code == 200
    statuses = [shared["status"] for shared in api.get("/api/analytics/shares").json()["data"]["shares"]]
    assert sorted(statuses) == ["active", "expired", *["unavailable"] * 3]


def test_bans_end_shares_while_they_last(api: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
    link, other = make_link(originalUrl="https://bad.example/")["_id"], make_link()["_id"]
    subjects = ({"viewId": create_view(api)}, {"urlId": link}, {"urlId": other})
    paths = [share(api, **subject)[0] for subject in subjects]
    banned = Link.objects.get(public_id=link)
    bans: tuple[tuple[Callable[[], Any], list[int]], ...] = (
        (lambda: ban_account(owner=alice.workspace), [410, 410, 410]),
        (lambda: ban_host(host="bad.example"), [200, 410, 200]),
        (lambda: LinkBan.objects.create(link=banned), [200, 410, 200]),
    )
    for begin, expected in bans:
        ban = begin()
        for suffix in ("", ".csv"):
            assert [reader().get(path + suffix).status_code for path in paths] == expected
        shares = reversed(api.get("/api/analytics/shares").json()["data"]["shares"])
        assert [each["status"] for each in shares] == [
            {200: "active", 410: "unavailable"}[status] for status in expected
        ]
        ban.delete()
        assert [reader().get(path).status_code for path in paths] == [200, 200, 200]


def test_a_report_that_takes_too_long_is_unavailable(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = share(api, urlId=make_link(title="Spring")["_id"])

    def fail(*given: Any) -> None:
        raise ReportTooSlow

    monkeypatch.setattr(selected, "fetch_bounded", fail)
    for suffix in ("", ".csv"):
        assert "This report cannot be read right now." in read(path + suffix, 503)
        assert "Dieser Bericht lässt sich gerade nicht lesen." in read(path + suffix, 503, "de")
        assert reader().get(path + suffix)["Retry-After"] == "2"


def test_readers_do_not_use_up_the_reports_of_the_workspace(
    api: APIClient, alice: NewAccount, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "CHEAP_LINKS", 0)
    path, _ = share(api, urlId=make_link()["_id"])
    with ExitStack() as running:
        for _ in range(PUBLIC_REPORTS_PER_WORKSPACE):
            running.enter_context(costly_report(alice.workspace.pk, is_public=True))
        assert "This report cannot be read right now." in read(path, 503)
        assert api.get("/api/analytics").status_code == 200
    monkeypatch.setattr(admission, "PROCESS_PLACES", BoundedSemaphore(REPORTS_PER_WORKSPACE + 1))
    with ExitStack() as running:
        for _ in range(REPORTS_PER_WORKSPACE):
            running.enter_context(costly_report(alice.workspace.pk))
        assert api.get("/api/analytics").status_code == 429
        assert figures(read(path))["Clicks"] == "0"


def test_readers_of_an_office_get_what_one_of_them_has_read(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kept, "SECONDS", 3600)
    monkeypatch.setattr(kept, "reading", Admission(1, 0, seconds=0))
    link = make_link(title="Spring")["_id"]
    click_on(link)
    path, shared = share(api, urlId=link, period="7d")
    with kept.reading.admit("slow"):
        busy = reader().get(path)
        assert (busy.status_code, busy["Retry-After"], busy["Refresh"]) == (503, "2", "2")
        assert "This report cannot be read right now." in checked(busy)
        # It would be loaded again without what was posted.
        assert not reader().post(path).has_header("Refresh")
    assert (caplog.records[-1].levelname, caplog.records[-1].name) == ("INFO", "analytics.shares.page")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]

    first = read(path)
    change = f"/api/analytics/shares/{shared['_id']}"
    with kept.reading.admit("slow"):
        assert [read(path) for _ in range(12)] == [first] * 12
        assert figures(read(path, language="de"))["Klicks"] == "4"
        assert rows(path)[0] == ["total", "", "4", "3"]
        # What was read is not shown to anybody who may not read it now, nor as another report.
        api.patch(change, {"password": "open sesame"})
        assert "Spring" not in read(path, 401)
        assert figures(checked(reader().post(path, {"password": "open sesame"})))["Clicks"] == "4"
        api.patch(change, {"password": None, "period": "all"})
        read(path, 503)
        api.patch(change, {"period": "7d"})
        assert read(path) == first
        Share.objects.filter(public_id=shared["_id"]).update(expires_at=EXPIRED)
        read(path, 410)
        Share.objects.filter(public_id=shared["_id"]).update(expires_at=None)
        assert read(path) == first
        api.delete(change)
        read(path, 410)


def move(link: str, owner: Any) -> None:
    Link.objects.filter(public_id=link).update(owner=owner.workspace)


def test_other_addresses_are_not_found(api: APIClient, make_link: MakeLink) -> None:
    path, _ = share(api, urlId=make_link()["_id"])
    for other in (
        path[:-1] + ("x" if path[-1] != "x" else "y"),
        path[:-1],
        f"{path}.json",
        "/reports",
        "/reports/",
    ):
        assert "Report not found" in read(other, 404) or len(other) != len(path)
        assert reader().get(other).status_code == 404
    # The pages exist on the host of the service only.
    assert reader().get(path, headers={"host": "links.example"}).status_code == 404
    response = reader().put(path)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, POST")
    refused = api.post("/api/urls", {"originalUrl": "https://example.com/", "customCode": "Reports"})
    assert (refused.status_code, refused.json()["code"]) == (409, "code_reserved")


def test_a_password_opens_the_page_and_the_file(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="Spring")
    click_on(link["_id"])
    path, shared = share(api, urlId=link["_id"], password="open sesame")
    assert shared["hasPassword"] is True
    asked = read(path, 401)
    assert ("Password required" in asked, f'action="{path}"' in asked, "Spring" in asked) == (
        True,
        True,
        False,
    )
    assert f'action="{path}"' in read(f"{path}.csv", 401)
    wrong = reader().post(path, {"password": "close sesame"})
    assert (wrong.status_code, "Wrong password" in checked(wrong)) == (401, True)
    page = checked(reader().post(path, {"password": "open sesame"}))
    assert figures(page)["Clicks"] == "6"
    [unlocked] = re.findall(r'name="unlocked" value="([^"]+)"', page)
    assert f'<form method="post" action="{path}.csv">' in page
    file = reader().post(f"{path}.csv", {"unlocked": unlocked})
    assert (file.status_code, file["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert "total,,6," in checked(file)
    # The signature is that of this share and of this password.
    other, _ = share(api, urlId=link["_id"], password="open sesame")
    assert reader().post(f"{other}.csv", {"unlocked": unlocked}).status_code == 401
    api.patch(f"/api/analytics/shares/{shared['_id']}", {"password": "another one"})
    assert reader().post(f"{path}.csv", {"unlocked": unlocked}).status_code == 401
    api.patch(f"/api/analytics/shares/{shared['_id']}", {"password": None})
    assert "total,,6," in read(f"{path}.csv")


def test_guesses_and_requests_are_limited(api: APIClient, make_link: MakeLink, settings: Settings) -> None:
    path, _ = share(api, urlId=make_link()["_id"], password="open sesame")
    client = reader()
    statuses = [client.post(path, {"password": f"guess {n}"}).status_code for n in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    limited = client.post(path, {"password": "open sesame"})
    assert (limited.status_code, limited.has_header("Retry-After")) == (429, True)
    settings.RATE_LIMIT_ANONYMOUS = 3
    assert [client.get(path).status_code for _ in range(5)] == [401] * 3 + [429] * 2


def test_a_view_that_no_report_can_show_is_refused(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    view = create_view(api, period="7d")
    path, shared = share(api, viewId=view)
    stored = SavedView.objects.filter(public_id=view)
    stored.update(report={"country": "Atlantis"})
    assert "Atlantis" not in read(path, 409)
    stored.update(report={"startDate": "2020-01-01", "interval": "hour"})
    read(path, 409)
    # The period of the share replaces the dates of the view.
    assert api.patch(f"/api/analytics/shares/{shared['_id']}", {"period": "24h"}).status_code == 200
    assert figures(read(path))["Clicks"] == "0"


def test_a_page_takes_the_same_number_of_queries_whatever_it_shows(
    api: APIClient, make_link: MakeLink
) -> None:
    path, _ = share(api, viewId=create_view(api, period="7d"))
    counts = []
    for _ in range(2):
        click_on(make_link()["_id"])
        with CaptureQueriesContext(
            connection,
        ) as queries:
            read(path)
        counts.append(len(queries))
    assert counts[0] == counts[1]
