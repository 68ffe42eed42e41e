"""Reports and the log of requests as files, with their manifests."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import downloads
from accounts.downloads import PER_WORKSPACE
from analytics.exports import parquet, tables
from analytics.models import Kind
from analytics.reports import click_log
from analytics.reports.costs import ReportTooSlow
from testing.analytics.branches import branch, set_branches
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report

MakeLink = Callable[..., dict[str, Any]]
DAYS = {"startDate": "2026-03-01", "endDate": "2026-03-03"}
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
REPORT = ["part", "value", "name", "url", "clicks", "uniqueClicks", "isRest", "isUnset"]
LOG = [
    *("urlId", "shortUrl", "_id", "time", "kind", "reason", "country", "region", "city", "device"),
    *("browser", "operatingSystem", "language", "referrer", "scanned", "branchId", "branchName", "location"),
]


def content(response: Any) -> bytes:
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content) if response.streaming else response.content


def download(api: APIClient, path: str, **query: Any) -> bytes:
    response = api.get(path, {**DAYS, **query})
    whole = content(response)
    subject = "clicks" if path.endswith("/clicks") else "report"
    extension = "zip" if "manifest" in query else query["format"]
    day = timezone.now().date().isoformat()
    assert response["Content-Disposition"] == f'attachment; filename="{subject}-{day}.{extension}"'
    assert response["Content-Type"] == ("application/zip" if "manifest" in query else TYPES[query["format"]])
    return whole


def lines(file: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.splitlines()]


def cells(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode(), newline="")))


def read_parquet(file: bytes, folder: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    duckdb = pytest.importorskip("duckdb")
    (folder / "file.parquet").write_bytes(file)
    read = duckdb.read_parquet(str(folder / "file.parquet"))
    assert read.columns in (REPORT, LOG)
    return [str(type_) for type_ in read.types], read.fetchall()


@pytest.fixture
def clicked(make_link: MakeLink) -> dict[str, Any]:
    link = make_link(title="Spring", customCode="spring")
    set_branches(link["_id"], [branch(1, "=Germany", "de")])
    record(
        link["_id"],
        [
            Fact("2026-03-01T10:00:00.5Z", count=3, branch=1),
            Fact(
                "2026-03-02T10:00Z",
                "US",
                "New York",
                "mobile",
                referrer="https://a.example/=1+1",
                scanned=True,
            ),
            Fact("2026-03-02T11:00Z", kind=Kind.REFUSED, reason="country"),
        ],
    )
    return link


def test_a_report_is_a_table_of_its_lists(api: APIClient, clicked: dict[str, Any]) -> None:
    link, path = clicked["_id"], f"/api/analytics/{clicked['_id']}"
    data = report(api, link, **DAYS, groupBy="country", compare="previous")
    rows = lines(download(api, path, format="jsonl", groupBy="country", compare="previous"))
    assert all(list(row) == REPORT for row in rows)
    parts: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        assert (row["isRest"], row["isUnset"]) == (False, False)
        parts.setdefault(row["part"], []).append(tuple(row.values())[1:-2])
    assert parts.pop("totalClicks") == [(None, None, None, 4, 2)]
    assert parts.pop("scans") == [(None, None, None, 1, None)]
    assert parts.pop("clicksByDate") == [
        (step["date"], None, None, step["clicks"], step["uniqueClicks"]) for step in data["clicksByDate"]
    ]
    assert parts.pop("topCountries") == parts.pop("groups") == [
        ("DE", None, None, 3, None), ("US", None, None, 1, None),
    ]  # fmt: skip
    [entry] = data["branches"]
    assert parts.pop("branches") == [(entry["_id"], "=Germany", entry["url"], 3, 1)]
    assert ("country", None, None, 1, None) in parts.pop("refused")
    assert parts.pop("compared.totalClicks") == [(None, None, None, 0, 0)]
    assert {*parts} == {
        *("importedClicks", "topLanguages", "topDevices", "topReferrers", "notCounted"),
        *(
            f"compared.{name}"
            for name in ("importedClicks", "scans", "clicksByDate", "notCounted", "refused")
        ),
    }
    # Of the workspace and of the parts, too.
    rows = lines(download(api, "/api/analytics", format="jsonl"))
    values = {(row["part"], row["value"], row["name"], row["url"], row["clicks"]) for row in rows}
    assert {
        ("topCities", "US New York", None, None, 1),
        ("topBrowsers", "Firefox", None, None, 4),
        ("topUrls", link, "Spring", clicked["shortUrl"], 4),
        ("otherUrls", None, None, None, 0),
    } <= values
    places = lines(download(api, f"{path}/geographic", format="jsonl"))
    assert [tuple(row.values())[:-2] for row in places] == [
        ("countries", "DE", "Germany", None, 3, None), ("countries", "US", "United States", None, 1, None),
        ("regions", "DE unknown", None, None, 3, None), ("regions", "US unknown", None, None, 1, None),
        ("cities", "DE Berlin", None, None, 3, None), ("cities", "US New York", None, None, 1, None),
    ]  # fmt: skip
    devices = lines(download(api, f"{path}/devices", format="jsonl", limit=1, channel="-qr"))
    assert [tuple(row.values())[:3] for row in devices] == [
        ("devices", "desktop", None), ("browsers", "Firefox", None), ("operatingSystems", "Linux", None),
    ]  # fmt: skip


@pytest.mark.parametrize("of_link", [True, False])
def test_the_log_is_one_table_in_all_formats(
    api: APIClient, clicked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_link: bool
) -> None:
    monkeypatch.setattr(tables, "BATCH", 2)
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 3)
    path = f"/api/analytics/{clicked['_id']}/clicks" if of_link else "/api/analytics/clicks"
    listed = report(api, clicked["_id"], "/clicks", **DAYS)["clicks"]
    rows = lines(download(api, path, format="jsonl"))
    assert rows == [
        {
            "urlId": clicked["_id"],
            "shortUrl": clicked["shortUrl"],
            **{name: click[name] for name in LOG if name in click},
            "branchId": click["branch"] and click["branch"]["_id"],
            "branchName": click["branch"] and click["branch"]["name"],
        }
        for click in listed
    ]
    head, *body = cells(download(api, path, format="csv"))
    assert head == LOG
    assert [dict(zip(head, row, strict=True))["time"] for row in body] == [row["time"] for row in rows]
    assert body[1][14:] == ["true", "", "", "https://example.com/page"]
    # Spreadsheets do not run the name.
    assert body[2][16] == "'=Germany"
    types, read = read_parquet(download(api, path, format="parquet"), tmp_path)
    assert types == [
        "BOOLEAN" if n == "scanned" else "TIMESTAMP WITH TIME ZONE" if n == "time" else "VARCHAR" for n in LOG
    ]
    as_json = [{**dict(zip(LOG, row, strict=True)), "time": row[3].astimezone(UTC)} for row in read]
    assert as_json == [{**row, "time": datetime.fromisoformat(row["time"])} for row in rows]
    # Filters and the cursor choose the rows of a file, too.
    assert [row["country"] for row in lines(download(api, path, format="jsonl", country="US"))] == ["US"]
    cursor = api.get(path, {**DAYS, "limit": 2}).json()["data"]["pagination"]["nextCursor"]
    assert lines(download(api, path, format="jsonl", cursor=cursor)) == rows[2:]
    nothing = {"format": "parquet", "country": "FR"}
    assert read_parquet(download(api, path, **nothing), tmp_path)[1] == []
    assert cells(download(api, path, format="csv", country="FR")) == [LOG]


@pytest.mark.parametrize("payload", ["=1+1", "+1", "-1", "@SUM(1)"])
def test_formulas_in_reports_are_escaped(api: APIClient, make_link: MakeLink, payload: str) -> None:
    link = make_link(title=payload)
    record(link["_id"], [Fact("2026-03-01T10:00Z", browser=payload)])
    rows = cells(download(api, "/api/analytics", format="csv"))
    [browser] = [row[1] for row in rows if row[0] == "topBrowsers"]
    [title] = [row[2] for row in rows if row[0] == "topUrls"]
    assert (browser, title) == (f"'{payload}", f"'{payload}")


@pytest.mark.parametrize("file_format", [*TYPES])
def test_a_manifest_describes_the_file(
    api: APIClient, clicked: dict[str, Any], file_format: str, tmp_path: Path
) -> None:
    for path, rows, clicks in (
        ("/api/analytics/clicks", 5, 4),
        ("/api/analytics", None, 4),
        (f"/api/analytics/{clicked['_id']}/devices", None, 4),
    ):
        query = {"format": file_format, "manifest": "true", "timezone": "Europe/Berlin"}
        archive = ZipFile(io.BytesIO(download(api, path, **query)))
        assert archive.testzip() is None
        name, manifest_name = archive.namelist()
        file = archive.read(name)
        manifest = json.loads(archive.read(manifest_name))
        assert manifest_name == "manifest.json"
        assert name.endswith(f"-{timezone.now():%Y-%m-%d}.{file_format}")
        assert datetime.fromisoformat(manifest.pop("createdAt"))
        plain = download(api, path, format=file_format, timezone="Europe/Berlin")
        assert file == plain
        number = len(lines(download(api, path, format="jsonl", timezone="Europe/Berlin")))
        assert rows in {None, number}
        assert manifest == {
            "file": name,
            "rows": number,
            "clicks": clicks,
            "sha256": sha256(plain).hexdigest(),
            "path": path,
            "query": {**DAYS, **query},
        }


def test_downloads_of_a_workspace_are_limited(
    api: APIClient, strange_api: APIClient, clicked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = [api.get("/api/analytics/clicks", {**DAYS, "format": "csv"}) for _ in range(PER_WORKSPACE)]
    busy = api.get(f"/api/analytics/{clicked['_id']}/clicks", {"format": "csv"})
    assert (busy.status_code, busy.json()["code"]) == (503, "busy")
    # Exports of links share the places.
    assert api.get("/api/urls/export").status_code == 503
    assert cells(download(strange_api, "/api/analytics/clicks", format="csv")) == [LOG]
    for response in running:
        # A server that has begun to send it closes it when the client disconnects.
        next(response._iterator)
        response._iterator.close()
    assert len(cells(download(api, "/api/analytics/clicks", format="csv"))) == 6
    head = [api.head("/api/analytics/clicks", {"format": "csv"}) for _ in range(3)]
    assert [(response.status_code, content(response)) for response in head] == [(200, b"")] * 3
    monkeypatch.setattr(downloads, "MAX_SECONDS", 0)
    with pytest.raises(TimeoutError):
        download(api, "/api/analytics/clicks", format="csv")


def test_a_log_that_cannot_be_read_is_an_ordinary_error(
    api: APIClient, clicked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any) -> None:
        raise ReportTooSlow

    with monkeypatch.context() as patch:
        patch.setattr(click_log, "fetch_bounded", fail)
        for path in ("/api/analytics/clicks", f"/api/analytics/{clicked['_id']}/clicks"):
            for query in ({}, {"manifest": "true"}):
                for file_format in TYPES:
                    response = api.get(path, {**DAYS, "format": file_format, **query})
                    assert (response.status_code, response.json()["code"]) == (503, "report_too_slow")
    # None of them has kept its place.
    assert len(cells(download(api, "/api/analytics/clicks", format="csv"))) == 6


def test_the_examples_of_the_guide_work(api: APIClient, clicked: dict[str, Any]) -> None:
    guide = (Path(__file__).parents[3] / "docs/guide.md").read_text()
    section = guide.partition("## Reports")[2].partition("\n## ")[0]
    paths = re.findall(r"curl [^'\n]*'http://127\.0\.0\.1:8000(/[^']+)'", section)
    [share] = re.findall(r"-d '(\{.*\})'", section)
    assert len(paths) + 1 == section.count("    $ curl") == 3
    for path in paths:
        assert content(api.get(path))
    shared = api.post("/api/analytics/shares", json.loads(share) | {"urlId": clicked["_id"]})
    assert shared.status_code == 201


def test_bad_formats_are_refused(api: APIClient, clicked: dict[str, Any]) -> None:
    link = f"/api/analytics/{clicked['_id']}"
    for path in ("/api/analytics", "/api/analytics/clicks", link, f"{link}/devices", f"{link}/clicks"):
        for query, rule in (
            ({"format": "xlsx"}, ("format", "invalid_choice")),
            ({"manifest": "true"}, ("manifest", "conflict")),
            ({"manifest": "1", "format": "csv"}, ("manifest", "invalid")),
            ({"format": "csv", "country": "XX"}, ("country", "value")),
        ):
            assert broken_rules(api.get(path, query)) == [rule], (path, query)
    assert broken_rules(api.get(f"{link}/clicks", {"format": "csv", "limit": "5"})) == [("limit", "conflict")]
