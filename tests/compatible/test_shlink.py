"""Shlink's API: requests in its words have the effects of the API, and responses have its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Scope
from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from testing.accounts.keys import scoped_client
from testing.cases import for_each

pytestmark = pytest.mark.urls("testing.compatible")

MakeLink = Callable[..., dict[str, Any]]
SHORT_URLS = "/rest/v3/short-urls"
TYPES = "https://shlink.io/api/error/"


@pytest.fixture(autouse=True)
def on(settings: Settings) -> None:
    settings.COMPATIBLE_APIS = frozenset({"shlink"})


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    workspace = Workspace.objects.get(account=alice.user)
    return Domain.objects.create(owner=workspace, host="go.example.com", status=DomainStatus.ACTIVE)


def problem(response: Any) -> tuple[int, str, dict[str, Any]]:
    """The status, the kind and the rest of an error."""
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body.pop("status") == response.status_code
    return response.status_code, body.pop("type").removeprefix(TYPES), body


def test_a_link_is_created_with_their_names(api: APIClient) -> None:
    sent = {
        "longUrl": "https://example.com/spring",
        "customSlug": "spring",
        "tags": ["sale"],
        "title": "Spring",
        "validSince": "2030-01-01T00:00:00+01:00",
        "validUntil": "2031-01-01T00:00:00+01:00",
        "maxVisits": 5,
        "forwardQuery": True,
        "crawlable": True,
        "shortCodeLength": 8,
    }
    response = api.post(SHORT_URLS, sent)
    assert response.status_code == 200, response.content
    created = response.json()
    assert created.pop("dateCreated").endswith("+00:00")
    shown = {
        "shortUrl": "http://sho.rt/spring",
        "shortCode": "spring",
        "longUrl": "https://example.com/spring",
        "visitsSummary": {"total": 0, "nonBots": 0, "bots": 0},
        "tags": ["sale"],
        "meta": {
            "validSince": "2029-12-31T23:00:00+00:00",
            "validUntil": "2030-12-31T23:00:00+00:00",
            "maxVisits": 5,
        },
        "domain": None,
        "title": "Spring",
        "crawlable": False,
        "forwardQuery": True,
        "hasRedirectRules": False,
    }
    assert created == shown
    [listed] = api.get(SHORT_URLS).json()["shortUrls"]["data"]
    found = api.get(f"{SHORT_URLS}/spring").json()
    assert listed == found == {**shown, "dateCreated": found["dateCreated"]}


def test_links_on_a_domain_are_created_and_found(api: APIClient, domain: Domain) -> None:
    sent = {"longUrl": "https://example.com/", "customSlug": "sale", "domain": "go.example.com"}
    assert api.post(SHORT_URLS, sent).json()["domain"] == "go.example.com"
    assert problem(api.get(f"{SHORT_URLS}/sale"))[:2] == (404, "short-url-not-found")
    assert api.get(f"{SHORT_URLS}/sale?domain=go.example.com").json()["shortCode"] == "sale"
    for name, number in (("go.example.com", 1), ("DEFAULT", 0), ("sho.rt", 0)):
        page = api.get(f"{SHORT_URLS}?domain={name}").json()["shortUrls"]["pagination"]
        assert page["totalItems"] == number
    for name in ("other.example.com", "", 5):
        refused = api.post(SHORT_URLS, {**sent, "domain": name})
        assert problem(refused)[:2] == (404, "domain-not-found")


def test_lists_have_filters_and_pages(api: APIClient, make_link: MakeLink) -> None:
    for number, tags in enumerate((["a"], ["a", "b"], ["b"])):
        make_link(f"https://example.com/{number}", tags=tags, title=f"Link {number}")

    def titles(query: str) -> list[str]:
        response = api.get(f"{SHORT_URLS}?{query}")
        assert response.status_code == 200, response.content
        return [link["title"] for link in response.json()["shortUrls"]["data"]]

    assert titles("") == titles("itemsPerPage=-1") == ["Link 2", "Link 1", "Link 0"]
    assert titles("orderBy=title-ASC") == ["Link 0", "Link 1", "Link 2"]
    assert titles("tags[]=a&tags[]=b") == ["Link 2", "Link 1", "Link 0"]
    assert titles("tags[]=a&tags[]=b&tagsMode=all") == ["Link 1"]
    assert titles("tags[]=a&excludeTags[]=b") == titles("searchTerm=Link%200") == ["Link 0"]
    assert titles("startDate=2099-01-01T00:00:00Z") == titles("endDate=2001-01-01T00:00:00Z") == []
    page = api.get(f"{SHORT_URLS}?itemsPerPage=2&page=2").json()["shortUrls"]
    assert [link["title"] for link in page["data"]] == ["Link 0"]
    assert page["pagination"] == {
        "currentPage": 2,
        "pagesCount": 2,
        "itemsPerPage": 2,
        "itemsInCurrentPage": 1,
        "totalItems": 3,
    }
    assert problem(api.get(f"{SHORT_URLS}?page=x"))[2]["invalidElements"] == ["page"]


def test_a_list_takes_one_query_more_than_ours(api: APIClient, make_link: MakeLink) -> None:
    for _ in range(3):
        make_link()
    with CaptureQueriesContext(connection) as ours:
        api.get("/api/urls")
    with CaptureQueriesContext(connection) as theirs:
        api.get(SHORT_URLS)
    assert len(theirs) == len(ours) + 1


@for_each(
    ("sent", "elements"),
    [
        ({}, ["longUrl"]),
        ({"longUrl": "ftp://example.com"}, ["longUrl"]),
        ({"longUrl": "https://example.com/", "customSlug": "?", "maxVisits": 0}, ["customSlug", "maxVisits"]),
        ({"longUrl": "https://example.com/", "validSince": "soon", "tags": 5}, ["validSince", "tags"]),
    ],
)
def test_invalid_values_are_named_as_they_were_sent(
    api: APIClient, sent: dict[str, Any], elements: list[str]
) -> None:
    status, kind, rest = problem(api.post(SHORT_URLS, sent))
    assert (status, kind, rest["title"]) == (400, "invalid-data", "Invalid data")
    assert set(rest["invalidElements"]) == set(elements)
    assert api.get(SHORT_URLS).json()["shortUrls"]["pagination"]["totalItems"] == 0


def test_errors_have_their_kinds(
    api: APIClient, strange_api: APIClient, anonymous: APIClient, make_link: MakeLink
) -> None:
    make_link(customCode="spring")
    sent = {"longUrl": "https://example.com/", "customSlug": "spring"}
    status, kind, rest = problem(strange_api.post(SHORT_URLS, sent))
    assert (status, kind, rest["customSlug"]) == (400, "non-unique-slug", "spring")
    # The link of another workspace is as unknown as any.
    status, kind, rest = problem(strange_api.get(f"{SHORT_URLS}/spring"))
    assert (status, kind, rest["shortCode"]) == (404, "short-url-not-found", "spring")
    missing = anonymous.post(SHORT_URLS, sent)
    assert problem(missing)[:2] == (401, "missing-authentication")
    assert missing["WWW-Authenticate"] == 'Bearer realm="api"'
    wrong = anonymous.get(SHORT_URLS, headers={"x-api-key": "wrong"})
    assert problem(wrong)[:2] == (401, "invalid-api-key")
    assert problem(api.generic("POST", SHORT_URLS, b"[", "application/json"))[:2] == (400, "invalid-data")
    assert problem(api.delete(SHORT_URLS))[:2] == (405, "about:blank")


def test_scopes_hold(alice: NewAccount) -> None:
    reader = scoped_client(Workspace.objects.get(account=alice.user), alice.user, Scope.URLS_READ)
    status, _, rest = problem(reader.post(SHORT_URLS, {"longUrl": "https://example.com/"}))
    assert (status, rest["code"]) == (403, "scope_required")
    writer = scoped_client(Workspace.objects.get(account=alice.user), alice.user, Scope.URLS_WRITE)
    assert writer.post(SHORT_URLS, {"longUrl": "https://example.com/"}).status_code == 200
    assert problem(writer.get(SHORT_URLS))[2]["code"] == "scope_required"


def test_anybody_may_ask_whether_it_is_there(anonymous: APIClient) -> None:
    for path in ("/rest/health", "/rest/v3/health"):
        assert anonymous.get(path).json() == {"status": "pass", "version": "4.6.0"}
