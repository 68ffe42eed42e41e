"""The unknown codes of a domain: what is kept of them, for whom, and the links that visitors may have meant."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from rest_framework.test import APIClient

from accounts.api_keys import new_key
from accounts.models import User
from accounts.rights import Scope
from accounts.services import NewAccount
from analytics import views
from analytics.counting import unknown_codes
from analytics.journal.records import UNKNOWN_CODE
from analytics.models import MissedCode
from domains.models import Domain, DomainStatus
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import key_client_in
from testing.analytics.clicks import drain
from testing.analytics.journaled import journaled
from testing.refusals import broken_rules

HOST = "go.brand.example"
NOW = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)
NOTHING = {"codes": [], "otherHits": 0, "pagination": {"page": 1, "limit": 20, "total": 0, "pages": 0}}


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="brand.example", subdomain="go", host=HOST, status=DomainStatus.ACTIVE
    )


def read(client: APIClient, domain: Domain | str, **query: Any) -> Any:
    name = domain if isinstance(domain, str) else domain.public_id
    return client.get(f"/api/domains/{name}/unknown-codes", query)


def missed(client: APIClient, domain: Domain | str, **query: Any) -> Any:
    return read(client, domain, **query).json()["data"]


def requested(domain: Domain | None, code: str, **fields: Any) -> None:
    number = 0 if domain is None else domain.pk
    journaled(number, fields.pop("moment", NOW), kind=UNKNOWN_CODE, reason=code, **fields)


def test_codes_are_listed_with_hits_last_request_and_top_referrer(
    visitor: Client, api: APIClient, domain: Domain
) -> None:
    with time_machine.travel(NOW, tick=False):
        for path, referrer, count in (
            ("/sprnig", "https://www.news.example/today?q=1", 2),
            ("/sprnig", "", 3),
            ("/sprnig", "https://blog.example/", 1),
            ("/autumn+", "", 1),
            ("/wp-login.php", "", 2),
            (f"/{new_key()}", "", 1),
            ("/Winter", "", 1),
        ):
            headers = {"host": HOST, "referer": referrer}
            for _ in range(count):
                assert visitor.get(path, headers=headers).status_code == 404
        assert drain() == 11
        assert missed(api, domain) == {
            "codes": [
                {
                    "code": code,
                    "hits": hits,
                    "lastSeenAt": NOW.isoformat().replace("+00:00", "Z"),
                    "topReferrer": referrer,
                    "nearest": None,
                    "isAvailable": True,
                }
                for code, hits, referrer in (
                    ("sprnig", 6, "news.example"),
                    ("Winter", 1, None),
                    ("autumn", 1, None),
                )
            ],
            # No link is likely to have meant a file, and keys must not be stored.
            "otherHits": 3,
            "pagination": {"page": 1, "limit": 20, "total": 3, "pages": 1},
        }
        page = missed(api, domain, page=2, limit=1)
        assert [code["code"] for code in page["codes"]] == ["Winter"]
        assert page["pagination"] == {"page": 2, "limit": 1, "total": 3, "pages": 3}
        assert missed(api, domain, page=9)["pagination"]["total"] == 3
        assert missed(api, domain, endDate=str(NOW.date() - timedelta(days=1))) == NOTHING
        # The same requests as in the numbers by day.
        total = api.get(f"/api/domains/{domain.public_id}/analytics").json()["data"]["unknownCodes"]
        assert total == 11


def test_the_nearest_link_is_one_of_the_workspace_on_the_domain(
    api: APIClient, strange_api: APIClient, domain: Domain
) -> None:
    links = {}
    for code, domain_id in (("spring", str(domain.public_id)), ("autumn", "base")):
        body = {"originalUrl": "https://example.com/", "customCode": code, "domainId": domain_id}
        links[code] = api.post("/api/urls", body).json()["data"]["url"]["_id"]
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/", "customCode": "winter"})
    nearest = {
        "sprin": "spring",
        "springs": "spring",
        "sprnig": "spring",
        "spr_ng": "spring",
        "SPRING": "spring",
        "spring": "spring",
        "spiring2": None,
        "autunm": None,
    }
    for code in nearest:
        requested(domain, code)
    requested(None, "wintre")
    drain()
    codes = {code["code"]: code for code in missed(api, domain)["codes"]}
    expected = {
        code: None if link is None else {"_id": links[link], "code": link} for code, link in nearest.items()
    }
    assert {code: row["nearest"] for code, row in codes.items()} == expected
    # A link has the code by now; a hyphen is not allowed in a new code.
    assert [code for code, row in codes.items() if not row["isAvailable"]] == ["spr_ng", "spring"]
    User.objects.filter(email="alice@example.com").update(is_staff=True)
    assert [(row["code"], row["nearest"]) for row in missed(api, "base")["codes"]] == [("wintre", None)]


@pytest.mark.parametrize("batch", [1, 50])
def test_a_file_has_all_codes(
    api: APIClient, domain: Domain, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(views, "MAX_CODES_PER_PAGE", batch)
    body = {"originalUrl": "https://example.com/", "customCode": "spring", "domainId": str(domain.public_id)}
    link = api.post("/api/urls", body).json()["data"]["url"]["_id"]
    requested(domain, "sprnig", referrer="=cmd()")
    for _ in range(2):
        requested(domain, "autumn")
    drain()
    rows = [json.loads(line) for line in file(api, domain, "unknown-codes", format="jsonl").splitlines()]
    moment = NOW.isoformat().replace("+00:00", "Z")
    empty = {"topReferrer": None, "nearestId": None, "nearestCode": None}
    assert rows == [
        {"code": "autumn", "hits": 2, "lastSeenAt": moment, **empty, "isAvailable": True},
        {
            "code": "sprnig",
            "hits": 1,
            "lastSeenAt": moment,
            "topReferrer": rows[1]["topReferrer"],
            "nearestId": link,
            "nearestCode": "spring",
            "isAvailable": True,
        },
    ]
    assert file(api, domain, "unknown-codes", format="csv", startDate="2020-01-01", endDate="2020-01-02") == (
        b"code,hits,lastSeenAt,topReferrer,nearestId,nearestCode,isAvailable\r\n"
    )
    assert file(api, domain, "unknown-codes", format="parquet")[:4] == b"PAR1"
    day = str(NOW.date())
    days = {"startDate": day, "endDate": day, "format": "csv"}
    assert file(api, domain, "analytics", **days) == f"date,hits\r\n{day},3\r\n".encode()
    for query, rule in (
        ({"format": "csv", "page": 2}, ("page", "conflict")),
        ({"format": "csv", "limit": 2}, ("limit", "conflict")),
        ({"format": "xlsx"}, ("format", "invalid_choice")),
        ({"manifest": "true"}, ("manifest", "conflict")),
    ):
        assert broken_rules(read(api, domain, **query)) == [rule]


def file(client: APIClient, domain: Domain, part: str, **query: Any) -> bytes:
    response: Any = client.get(f"/api/domains/{domain.public_id}/{part}", query)
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_scanners_fill_a_day_and_no_more(
    api: APIClient, domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unknown_codes, "MAX_CODES", 3)
    requested(domain, "poster")
    drain()
    for number in range(20):
        requested(domain, f"guess{number}")
    requested(domain, "guess7", referrer="https://scan.example/")
    drain()
    for code in ("poster", "poster", "late"):
        requested(domain, code)
    requested(domain, "late", moment=NOW - timedelta(days=1))
    for number in range(5):
        requested(domain, "poster", referrer=f"https://{number}.example/")
    requested(domain, "poster", referrer="https://4.example/")
    drain()

    report = missed(api, domain)
    # Of a batch, those with the most requests come first.
    assert [(code["code"], code["hits"]) for code in report["codes"]] == [
        ("poster", 9),
        ("guess7", 2),
        ("guess0", 1),
        ("late", 1),
    ]
    assert report["otherHits"] == 19
    assert report["codes"][0]["topReferrer"] == "4.example"
    assert MissedCode.objects.get(code="poster").referrers.count("\x1e") == 2
    with time_machine.travel(NOW + timedelta(days=1)):
        assert missed(api, domain, startDate=str(NOW.date()))["otherHits"] == 19

    MissedCode.objects.filter(code="late").update(day=NOW.date() - timedelta(days=40))
    unknown_codes.delete_old_codes()
    assert not MissedCode.objects.filter(code="late").exists()
    assert MissedCode.objects.count() == 3


def test_only_operators_see_the_codes_of_the_default_domain(
    alice: NewAccount, api: APIClient, strange_api: APIClient, anonymous: APIClient, domain: Domain
) -> None:
    requested(None, "misprint")
    drain()
    assert read(strange_api, domain).status_code == 404
    assert read(strange_api, domain, format="csv").status_code == 404
    assert read(anonymous, domain).status_code == 401
    assert read(api, "unknown").status_code == 404
    assert read(api, "base").status_code == 404
    User.objects.filter(pk=alice.user.pk).update(is_staff=True)
    assert [code["code"] for code in missed(api, "base")["codes"]] == ["misprint"]
    assert missed(api, domain)["codes"] == []
    # A program with a key for one workspace is no operator.
    key = scoped_key(alice.workspace, alice.user, Scope.ANALYTICS_READ)
    client = key_client_in(alice.workspace, key.text)
    assert read(client, "base").status_code == 404
    assert read(client, domain).status_code == 200
    assert read(api, domain, limit=51).status_code == 400
    assert read(api, domain, page=0).status_code == 400
    assert read(api, domain, startDate="2026-03-02", endDate="2026-03-01").status_code == 400


def test_a_page_takes_as_many_queries_as_a_single_code(
    api: APIClient, domain: Domain, django_assert_num_queries: Any
) -> None:
    counts = []
    for codes in (1, 5):
        for number in range(codes):
            requested(domain, f"code{number}")
        drain()
        with django_assert_num_queries(5) as queries:
            assert len(missed(api, domain)["codes"]) == codes
        counts.append(len(queries))
    assert counts[0] == counts[1]
