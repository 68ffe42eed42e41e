from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Click, DayTotal, Kind, UnknownCode
from domains.models import Domain, DomainStatus
from testing.analytics.clicks import drain
from testing.cases import for_each

MakeLink = Callable[..., dict[str, Any]]

HOST = "go.brand.example"
NAMES = ["rootUrl", "notFoundUrl", "expiredUrl"]
ELSEWHERE = {
    "rootUrl": "https://brand.example/",
    "notFoundUrl": "https://brand.example/lost",
    "expiredUrl": "https://brand.example/over",
}


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="brand.example", subdomain="go", host=HOST, status=DomainStatus.ACTIVE
    )


@pytest.fixture
def path(domain: Domain) -> str:
    return f"/api/domains/{domain.public_id}"


def settings_of(api: APIClient, path: str) -> dict[str, Any]:
    domain = api.get(path).json()["data"]["domain"]
    return {name: domain[name] for name in NAMES}


def sent(response: Any) -> tuple[int, str | None, str | None]:
    return response.status_code, response.get("Location"), response.get("Cache-Control")


def test_settings_change_individually_and_null_removes_one(api: APIClient, path: str) -> None:
    no_urls = dict.fromkeys(NAMES)
    assert settings_of(api, path) == no_urls
    response = api.patch(path, {"rootUrl": "HTTPS://Brand.example/ü"})
    assert response.status_code == 200
    assert response.json()["message"] == "Domain updated successfully."
    assert response.json()["data"]["domain"]["rootUrl"] == "https://brand.example/%C3%BC"
    api.patch(path, {"expiredUrl": ELSEWHERE["expiredUrl"]})
    two_urls = no_urls | {"rootUrl": "https://brand.example/%C3%BC", "expiredUrl": ELSEWHERE["expiredUrl"]}
    assert settings_of(api, path) == two_urls
    assert api.patch(path, {}).status_code == 200
    assert settings_of(api, path) == two_urls
    api.patch(path, {"rootUrl": None, "expiredUrl": None})
    assert settings_of(api, path) == no_urls


@for_each("name", NAMES)
@for_each(
    ("value", "code"),
    [
        *((wrong, "invalid") for wrong in (5, True, [], {})),
        ("", "blank"),
        ("javascript:alert(1)", "scheme"),
        ("ftp://brand.example/", "scheme"),
        ("https://user@brand.example/", "credentials"),
        ("https://brand.example/\n", "control_character"),
        ("https://sho.rt/", None),
        ("http://SHO.rt./x", None),
        (f"https://{HOST}/", "loop"),
        ("https://other.example/", "loop"),
    ],
)
def test_invalid_urls_and_loops_are_refused_and_change_nothing(
    api: APIClient, path: str, stranger: NewAccount, *, name: str, value: Any, code: str | None
) -> None:
    Domain.objects.create(
        owner=stranger.workspace, domain="other.example", host="other.example", status=DomainStatus.ACTIVE
    )
    response = api.patch(path, {**ELSEWHERE, name: value})
    assert response.status_code == 400
    [error] = response.json()["errors"]
    assert error["field"] == name
    if code == "loop":
        assert error["code"] == "loop"
    assert settings_of(api, path) == dict.fromkeys(NAMES)


def test_strangers_and_anonymous_callers_change_nothing(
    api: APIClient, strange_api: APIClient, anonymous: APIClient, path: str
) -> None:
    assert strange_api.patch(path, ELSEWHERE).status_code == 404
    assert anonymous.patch(path, ELSEWHERE).status_code == 401
    assert api.patch("/api/domains/unknown", ELSEWHERE).status_code == 404
    assert settings_of(api, path) == dict.fromkeys(NAMES)


def test_root_path_redirects_to_root_url(visitor: Client, api: APIClient, path: str) -> None:
    assert visitor.get("/", headers={"host": HOST}).status_code == 404
    api.patch(path, {"rootUrl": ELSEWHERE["rootUrl"]})
    assert sent(visitor.get("/", headers={"host": HOST})) == (302, ELSEWHERE["rootUrl"], "no-store")
    assert visitor.head("/", headers={"host": HOST}).status_code == 302
    assert visitor.post("/", headers={"host": HOST}).status_code == 405
    assert visitor.get("/").headers["Location"] == "/dashboard/overview"
    assert visitor.get("/", headers={"host": "unknown.example"}).status_code == 404


def test_unknown_codes_redirect_to_not_found_url_and_are_counted(
    visitor: Client, api: APIClient, domain: Domain, path: str
) -> None:
    api.patch(path, {"notFoundUrl": ELSEWHERE["notFoundUrl"]})
    assert sent(visitor.get("/nothing", headers={"host": HOST})) == (
        302,
        ELSEWHERE["notFoundUrl"],
        "no-store",
    )
    assert visitor.get("/nothing").status_code == 404
    assert visitor.get("/not/a/code", headers={"host": HOST}).status_code == 404
    drain()
    assert UnknownCode.objects.get(domain_id=domain.pk).hits == 1
    assert DayTotal.objects.count() == 0


def test_expired_links_redirect_to_expired_url_and_count_no_click(
    visitor: Client, api: APIClient, make_link: MakeLink, domain: Domain, path: str
) -> None:
    api.patch(path, ELSEWHERE)
    expired = make_link(domainId=str(domain.public_id), expiresAt="2020-01-01")
    used_up = make_link(domainId=str(domain.public_id), restrictions={"maxClicks": 1})
    disabled = make_link(domainId=str(domain.public_id))
    api.put(f"/api/urls/{disabled['_id']}", {"isActive": False})
    on_default_domain = make_link(expiresAt="2020-01-01")

    def follow(link: dict[str, Any], host: str = HOST) -> tuple[int, str | None, str | None]:
        return sent(visitor.get(f"/{link['shortCode']}", headers={"host": host}))

    over = (302, ELSEWHERE["expiredUrl"], "no-store")
    assert follow(expired) == over
    assert [follow(used_up)[1], follow(used_up)] == ["https://example.com/page", over]
    assert follow(disabled)[0] == 410
    assert follow(on_default_domain, "sho.rt")[0] == 410
    drain()
    assert Click.objects.filter(kind=Kind.CLICK).count() == 1
    assert sorted(Click.objects.filter(kind=Kind.REFUSED).values_list("reason", flat=True)) == [
        "disabled", "expired", "expired", "limit_reached",
    ]  # fmt: skip


@pytest.mark.parametrize("status", [DomainStatus.PENDING, DomainStatus.INACTIVE])
def test_an_inactive_domain_does_not_redirect(
    visitor: Client, api: APIClient, domain: Domain, path: str, status: str
) -> None:
    api.patch(path, ELSEWHERE)
    Domain.objects.update(status=status)
    responses = [visitor.get(target, headers={"host": HOST}).status_code for target in ("/", "/nothing")]
    assert responses == [404, 404]
