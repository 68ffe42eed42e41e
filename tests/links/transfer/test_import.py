from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting.audit import differences
from domains.models import Domain
from links.models import Code
from links.transfer import imports
from testing.analytics.clicks import drain
from testing.cases import for_each
from testing.links.exports_of_others import EXPORTS
from testing.links.many import UNKNOWN_ID, URL, imported
from tests.links.creation import everything_written
from tests.links.transfer.imports import lines, send, whole

# Exports of other products


@for_each("name", EXPORTS)
def test_imports_from_other_products_keep_codes_dates_and_clicks(
    name: str, api: APIClient, brand: Domain, visitor: Client
) -> None:
    layout, content = EXPORTS[name]
    response = send(api, content, dryRun=False)
    assert response.status_code == 200, response.content
    data = response.json()["data"]
    assert (data["format"], data["succeeded"], data["failed"]) == (layout, 2, 0), data
    first, second = whole(api, "spring"), whole(api, "k3TzP9q")

    assert (first["originalUrl"], first["customCode"]) == ("https://example.com/spring", "spring")
    assert first["domainId"] == "base"
    counted = "itself" not in name and name not in ("bitly", "bitly, snake case", "tly")
    assert (first["clickCount"], second["clickCount"]) == (42 if counted else 0, 0)
    dated = "itself" not in name and layout != "linkly"
    if dated:
        assert first["createdAt"] == "2024-03-01T09:30:00Z"
        assert second["createdAt"] == "2023-01-02T03:04:05Z"
    assert first["tags"] == ([] if layout in ("yourls", "kutt", "linkly") else ["sale", "mail"])
    if "dub, CSV" not in name:
        assert first["description" if layout in ("kutt", "tly") else "title"] == "Spring sale"
    if layout in ("kutt", "tly", "linkly") or name in ("shlink", "dub", "shortio"):
        assert first["expiresAt"] == "2030-06-01T00:00:00Z"
    if name == "shlink":
        assert first["restrictions"] == {"maxClicks": 100}
    assert first["isActive"] is True
    assert second["isActive"] is (name not in ("kutt", "kutt, a page in each line", "dub", "linkly"))
    # The YOURLS table does not contain the host.
    assert second["domainId"] == ("base" if name == "yourls" else str(brand.public_id))
    assert visitor.get("/spring")["Location"] == "https://example.com/spring"
    if name in ("bitly", "bitly, CSV"):
        assert visitor.get("/3abcXYZ")["Location"] == "https://example.com/spring"
        assert Code.objects.get(code="3abcXYZ").kind == "alias"


@for_each("name", EXPORTS)
@pytest.mark.slow
def test_a_dry_run_returns_the_same_verdicts_and_writes_nothing(
    name: str, api: APIClient, brand: Domain
) -> None:
    _, content = EXPORTS[name]
    before = everything_written()
    response = send(api, content)
    assert response.json()["data"]["dryRun"] is True
    assert everything_written() == before
    predicted = response.json()["data"]["results"]
    done = imported(api, content)
    for rehearsed, real in zip(predicted, done, strict=True):
        assert rehearsed["success"] is real["success"] is True
        assert rehearsed["url"].items() <= real["url"].items()
        assert set(real["url"]) - set(rehearsed["url"]) == {"_id", "createdAt", "shortCode"}
    assert Code.objects.filter(kind="custom").count() == 2


def test_a_dry_run_rejects_an_invalid_idempotency_key(api: APIClient) -> None:
    body = {"content": "originalUrl\nhttps://example.com/\n"}
    response = api.post("/api/urls/import", body, headers={"Idempotency-Key": "x" * 256})
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
        ("Idempotency-Key", "invalid")
    ]


# The rules


def test_each_row_has_its_own_result(api: APIClient, make_link: Any) -> None:
    make_link(customCode="taken")
    content = (
        "Original URL,custom_code,shortcode,title,clickCount,createdAt,isActive\n"
        f"{URL}/1,one,,Eins,7,2020-05-06T07:08:09Z,\n"
        f"{URL}/2,taken,,,,,\n"
        f"{URL}/3,admin,,,,,\n"
        f"{URL}/4,,Robots,,,,\n"
        f"{URL}/5,a b,,,,,\n"
        "ftp://example.com/,,,,-1,yesterday,maybe\n"
        "http://sho.rt/abc,,,,,,\n"
        "\n"
        f"{URL}/8,one,,,,,\n"
        f"{URL}/9,nine,,,,,,more\n"
        f"{URL}/10,,Ten10,,,,no\n"
        f"{URL}/11\n"
    )
    for dry_run in (True, False):
        verdicts = imported(api, content, dry_run=dry_run)
        assert [verdict["status"] for verdict in verdicts] == [
            *(201, 409, 409, 409, 400, 400, 400, 409, 400, 201, 201)
        ]
        assert [verdict.get("code") for verdict in verdicts] == [
            *(None, "code_taken", "code_reserved", "code_reserved", "validation_error", "validation_error"),
            *("validation_error", "code_taken", "validation_error", None, None),
        ]
        assert [(error["field"], error["code"]) for error in verdicts[5]["errors"]] == [
            ("originalUrl", "unsupported_scheme"),
            ("isActive", "invalid"),
            ("clickCount", "invalid"),
            ("createdAt", "invalid"),
        ]
        assert verdicts[8]["errors"][0]["code"] == "unreadable"
    one, ten = whole(api, "one"), whole(api, "Ten10")
    assert (one["clickCount"], one["createdAt"], one["title"]) == (7, "2020-05-06T07:08:09Z", "Eins")
    assert (ten["shortCode"], ten["customCode"], ten["isActive"]) == ("Ten10", None, False)
    assert api.get("/api/urls/stats").json()["data"]["stats"] | {"topUrls": []} == {
        "totalUrls": 4,
        "activeUrls": 3,
        "totalClicks": 7,
        "topUrls": [],
    }


def test_imported_clicks_are_counted_and_are_in_no_report(
    api: APIClient, visitor: Client, make_link: Any
) -> None:
    imported(api, f"originalUrl,customCode,clickCount\n{URL},old,1000\n")
    assert visitor.get("/old").status_code == 302
    drain()
    link = whole(api, "old")
    assert (link["clickCount"], link["importedClicks"]) == (1001, 1000)
    assert api.get(f"/api/analytics/{link['_id']}").json()["data"]["totalClicks"] == 1
    assert api.get("/api/urls/stats").json()["totalClicks"] == 1001
    assert [url["clickCount"] for url in api.get("/api/urls?sortBy=clickCount").json()["data"]["urls"]] == [
        1001
    ]
    assert list(differences()) == []
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert list(differences()) == []
    assert api.get("/api/urls/stats").json()["totalClicks"] == 0


def test_imported_clicks_use_up_a_limit(api: APIClient, visitor: Client) -> None:
    row = {"originalUrl": URL, "customCode": "capped", "clickCount": 9, "restrictions": {"maxClicks": 10}}
    imported(api, lines(row))
    assert [visitor.get("/capped").status_code for _ in range(2)] == [302, 410]


def test_a_creation_date_in_the_future_is_replaced(api: APIClient) -> None:
    [result] = imported(api, lines({"originalUrl": URL, "customCode": "early", "createdAt": "2999-01-01"}))
    assert result["url"]["createdAt"] < "2999"


@pytest.mark.parametrize(
    ("host", "domain_id", "expected"),
    [
        (None, None, "base"),
        ("sho.rt", None, "base"),
        ("go.brand.example", None, "brand"),
        ("unknown.example", None, 404),
        ("hers.example", None, 404),
        (5, None, "base"),
        ("unknown.example", "base", "base"),
        ("sho.rt", "brand", "brand"),
    ],
)
def test_target_domain_of_imported_links(
    api: APIClient, stranger: NewAccount, brand: Domain, host: Any, domain_id: str | None, expected: Any
) -> None:
    Domain.objects.create(
        owner=stranger.workspace, domain="hers.example", host="hers.example", status="active"
    )
    ids = {"brand": str(brand.public_id)}
    for dry_run in (True, False):
        content = lines({"originalUrl": URL, "customCode": "here", "domain": host})
        chosen = {} if domain_id is None else {"domainId": ids.get(domain_id, domain_id)}
        [result] = imported(api, content, dry_run=dry_run, **chosen)
        assert result["status"] == (404 if expected == 404 else 201)
    if expected != 404:
        assert whole(api, "here")["domainId"] == ids.get(expected, expected)


def test_links_of_a_host_of_others_go_to_the_default_domain(api: APIClient) -> None:
    [result] = imported(api, "link,long_url\nhttps://bit.ly/spring,https://example.com/\n")
    assert result["url"]["shortUrl"] == "http://sho.rt/spring"


def test_a_strangers_domain_of_an_import_is_not_found(api: APIClient, stranger: NewAccount) -> None:
    strangers_domain = Domain.objects.create(
        owner=stranger.workspace, domain="hers.example", host="hers.example", status="active"
    )
    for domain_id in (str(strangers_domain.public_id), UNKNOWN_ID, "x"):
        assert send(api, f"originalUrl\n{URL}\n", domainId=domain_id).status_code == 404


def test_codes_are_held_for_their_former_owner(
    api: APIClient, strange_api: APIClient, make_link: Any
) -> None:
    link = make_link(customCode="held")
    api.delete(f"/api/urls/{link['_id']}")
    content = f"originalUrl,shortCode,customCode\n{URL},{link['shortCode']},held\n"
    for dry_run in (True, False):
        assert imported(strange_api, content, dry_run=dry_run)[0]["code"] == "code_taken"
    for dry_run in (True, False):
        assert imported(api, content, dry_run=dry_run)[0]["success"] is True
    assert whole(api, "held")["shortCode"] == link["shortCode"]


def test_a_short_code_on_a_domain_must_be_free_on_the_default_domain(
    api: APIClient, brand: Domain, make_link: Any
) -> None:
    make_link(customCode="athome")
    content = f"originalUrl,shortCode,domain\n{URL},athome,go.brand.example\n"
    for dry_run in (True, False):
        assert imported(api, content, dry_run=dry_run)[0]["code"] == "code_taken"


def test_rows_go_into_the_database_batch_by_batch(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_ITEMS", 2)
    rows = lines(*({"originalUrl": f"{URL}/{n}", "customCode": f"code{n // 2 * 2}"} for n in range(1, 8)))
    for dry_run in (True, False):
        assert [verdict["status"] for verdict in imported(api, rows, dry_run=dry_run)] == [
            *(201, 201, 409, 201, 409, 201, 409)
        ]
