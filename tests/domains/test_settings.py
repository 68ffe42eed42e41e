from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Click, DayTotal, Kind, UnknownCode
from domains.models import Domain, DomainStatus
from tests.clicks import drain

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
        owner=alice.user, domain="brand.example", subdomain="go", host=HOST, status=DomainStatus.ACTIVE
    )


@pytest.fixture
def path(domain: Domain) -> str:
    return f"/api/domains/{domain.public_id}"


def settings_of(api: APIClient, path: str) -> dict[str, Any]:
    found = api.get(path).json()["data"]["domain"]
    return {name: found[name] for name in NAMES}


def sent(answer: Any) -> tuple[int, str | None, str | None]:
    return answer.status_code, answer.get("Location"), answer.get("Cache-Control")


def test_settings_are_changed_one_by_one_and_taken_away_by_null(api: APIClient, path: str) -> None:
    nothing = dict.fromkeys(NAMES)
    assert settings_of(api, path) == nothing
    response = api.patch(path, {"rootUrl": "HTTPS://Brand.example/ü"})
    assert response.status_code == 200
    assert response.json()["message"] == "Domain updated successfully."
    assert response.json()["data"]["domain"]["rootUrl"] == "https://brand.example/%C3%BC"
    api.patch(path, {"expiredUrl": ELSEWHERE["expiredUrl"]})
    both = nothing | {"rootUrl": "https://brand.example/%C3%BC", "expiredUrl": ELSEWHERE["expiredUrl"]}
    assert settings_of(api, path) == both
    assert api.patch(path, {}).status_code == 200
    assert settings_of(api, path) == both
    api.patch(path, {"rootUrl": None, "expiredUrl": None})
    assert settings_of(api, path) == nothing


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("given", "code"),
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
def test_what_is_no_address_or_leads_back_is_refused_and_changes_nothing(
    api: APIClient, path: str, stranger: NewAccount, *, name: str, given: Any, code: str | None
) -> None:
    Domain.objects.create(
        owner=stranger.user, domain="other.example", host="other.example", status=DomainStatus.ACTIVE
    )
    response = api.patch(path, {**ELSEWHERE, name: given})
    assert response.status_code == 400
    [error] = response.json()["errors"]
    assert error["field"] == name
    if code == "loop":
        assert error["code"] == "loop"
    assert settings_of(api, path) == dict.fromkeys(NAMES)


def test_strangers_and_nobody_change_nothing(
    api: APIClient, strange_api: APIClient, anonymous: APIClient, path: str
) -> None:
    assert strange_api.patch(path, ELSEWHERE).status_code == 404
    assert anonymous.patch(path, ELSEWHERE).status_code == 401
    assert api.patch("/api/domains/unknown", ELSEWHERE).status_code == 404
    assert settings_of(api, path) == dict.fromkeys(NAMES)


def test_the_root_of_a_domain_leads_where_its_owner_says(visitor: Client, api: APIClient, path: str) -> None:
    assert visitor.get("/", headers={"host": HOST}).status_code == 404
    api.patch(path, {"rootUrl": ELSEWHERE["rootUrl"]})
    assert sent(visitor.get("/", headers={"host": HOST})) == (302, ELSEWHERE["rootUrl"], "no-store")
    assert visitor.head("/", headers={"host": HOST}).status_code == 302
    assert visitor.post("/", headers={"host": HOST}).status_code == 405
    assert visitor.get("/").status_code == 200
    assert visitor.get("/", headers={"host": "unknown.example"}).status_code == 404


def test_unknown_codes_lead_where_the_owner_says_and_are_counted_as_such(
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


def test_links_that_are_over_lead_where_the_owner_says_and_count_no_click(
    visitor: Client, api: APIClient, make_link: MakeLink, domain: Domain, path: str
) -> None:
    api.patch(path, ELSEWHERE)
    expired = make_link(domainId=str(domain.public_id), expiresAt="2020-01-01")
    used_up = make_link(domainId=str(domain.public_id), restrictions={"maxClicks": 1})
    disabled = make_link(domainId=str(domain.public_id))
    api.put(f"/api/urls/{disabled['_id']}", {"isActive": False})
    at_home = make_link(expiresAt="2020-01-01")

    def follow(link: dict[str, Any], host: str = HOST) -> tuple[int, str | None, str | None]:
        return sent(visitor.get(f"/{link['shortCode']}", headers={"host": host}))

    over = (302, ELSEWHERE["expiredUrl"], "no-store")
    assert follow(expired) == over
    assert [follow(used_up)[1], follow(used_up)] == ["https://example.com/page", over]
    assert follow(disabled)[0] == 410
    assert follow(at_home, "sho.rt")[0] == 410
    drain()
    assert Click.objects.filter(kind=Kind.CLICK).count() == 1
    assert sorted(Click.objects.filter(kind=Kind.REFUSED).values_list("reason", flat=True)) == [
        "disabled", "expired", "expired", "limit_reached",
    ]  # fmt: skip


@pytest.mark.parametrize("status", [DomainStatus.PENDING, DomainStatus.INACTIVE])
def test_a_domain_that_does_not_work_sends_nobody_anywhere(
    visitor: Client, api: APIClient, domain: Domain, path: str, status: str
) -> None:
    api.patch(path, ELSEWHERE)
    Domain.objects.update(status=status)
    answers = [visitor.get(each, headers={"host": HOST}).status_code for each in ("/", "/nothing")]
    assert answers == [404, 404]
