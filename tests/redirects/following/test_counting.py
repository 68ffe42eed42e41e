from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from testing.analytics.clicks import clicks, drain
from testing.pages.html import parse

MakeLink = Callable[..., dict[str, Any]]

AMERICAN = "8.8.8.8"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)


def test_a_new_link_has_no_clicks(api: APIClient, make_link: MakeLink) -> None:
    assert clicks(api, make_link()) == 0


def test_each_click_counts_one(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()

    counted = []
    for _ in range(5):
        assert visitor.get(f"/{link['shortCode']}").status_code == 302
        counted.append(clicks(api, link))

    assert counted == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "fields",
    [
        {"redirectType": 301},
        {"expiresAt": "2099-01-01T00:00:00Z"},
        {"restrictions": {"maxClicks": 5}},
        {"restrictions": {"allowedCountries": ["US"], "blockedCountries": ["GB"]}},
        {"restrictions": {"allowedDevices": ["desktop"]}},
        {"utm": {"source": "mail"}},
    ],
)
def test_clicks_of_every_kind_of_link_count_once(
    visitor: Client, api: APIClient, make_link: MakeLink, fields: dict[str, Any]
) -> None:
    link = make_link(**fields)

    visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN)

    assert clicks(api, link) == 1


def test_clicks_on_all_codes_count_for_the_link(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link(customCode="spring"), make_link()
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})

    for code in (link["shortCode"], "spring", "summer"):
        visitor.get(f"/{code}")

    assert clicks(api, link) == 3
    assert clicks(api, other) == 0


def test_clicks_on_a_custom_domain_count(
    visitor: Client, api: APIClient, make_link: MakeLink, alice: NewAccount
) -> None:
    host = "go.example.net"
    domain = Domain.objects.create(
        owner=alice.workspace, domain="example.net", subdomain="go", host=host, status=DomainStatus.ACTIVE
    )
    link = make_link(domainId=str(domain.public_id))

    visitor.get(f"/{link['shortCode']}", headers={"host": host})
    visitor.get(f"/{link['shortCode']}")

    assert clicks(api, link) == 1


@pytest.mark.parametrize(
    "agent",
    [
        IPHONE,
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/148.0.0.0 Safari/537.36",
        "Mozilla/5.0 (Linux; Android 14; CUBOT NOTE 50) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36",
        "curl/8.5.0",
        "python-requests/2.32.3",
        "Wget/1.21.4",
        "python-httpx/0.28.1",
        "Go-http-client/2.0",
        "PostmanRuntime/7.43.0",
        "an unknown agent",
        "\xff\xfe\xfd",
    ],
)
def test_visits_of_people_and_their_tools_count(
    visitor: Client, api: APIClient, make_link: MakeLink, agent: str
) -> None:
    link = make_link()

    assert visitor.get(f"/{link['shortCode']}", headers={"user-agent": agent}).status_code == 302
    assert clicks(api, link) == 1


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("HEAD", {"user-agent": "curl/8.5.0"}),
        ("GET", {"sec-purpose": "prefetch"}),
        ("GET", {"sec-purpose": "prefetch;prerender"}),
        ("GET", {"sec-purpose": "Prefetch; anonymous-client-ip"}),
        ("GET", {"purpose": "prefetch"}),
        ("GET", {"purpose": "preview"}),
        ("GET", {"x-moz": "prefetch"}),
        ("GET", {"user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}),
        ("GET", {"user-agent": "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"}),
        ("GET", {"user-agent": "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"}),
        ("GET", {"user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}),
        ("GET", {"user-agent": "Twitterbot/1.0"}),
        ("GET", {"user-agent": "WhatsApp/2.23.20.0"}),
        ("GET", {"user-agent": "TelegramBot (like TwitterBot)"}),
        ("GET", {"user-agent": "LinkedInBot/1.0 (compatible; Mozilla/5.0; +http://www.linkedin.com)"}),
        ("GET", {"user-agent": "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"}),
        ("GET", {"user-agent": ""}),
    ],
)
@pytest.mark.parametrize("fields", [{}, {"restrictions": {"maxClicks": 1}}], ids=["plain", "capped"])
def test_crawlers_and_prefetches_are_not_counted(
    visitor: Client,
    api: APIClient,
    make_link: MakeLink,
    *,
    method: str,
    headers: dict[str, str],
    fields: dict[str, Any],
) -> None:
    link = make_link(**fields)

    for _ in range(2):
        status = visitor.generic(method, f"/{link['shortCode']}", headers=headers).status_code
        assert status == (200 if fields else 302)

    assert clicks(api, link) == 0


def test_a_visit_without_a_user_agent_is_not_counted(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()

    assert Client(headers={"host": "sho.rt"}).get(f"/{link['shortCode']}").status_code == 302
    assert clicks(api, link) == 0


@pytest.mark.parametrize(
    ("method", "changes", "headers", "status"),
    [
        ("GET", {"isActive": False}, {}, 410),
        ("GET", {"expiresAt": "2020-01-01T00:00:00Z"}, {}, 410),
        ("GET", {"restrictions": {"allowedCountries": ["GB"]}}, {}, 403),
        ("GET", {"restrictions": {"blockedCountries": ["US"]}}, {}, 403),
        ("GET", {"restrictions": {"allowedDevices": ["mobile"]}}, {}, 403),
        ("GET", {"password": "secret"}, {}, 401),
        ("POST", {"password": "secret"}, {}, 403),
        ("GET", {}, {"host": "evil.example"}, 404),
        ("POST", {}, {}, 303),
        ("PUT", {}, {}, 405),
        ("OPTIONS", {}, {}, 405),
    ],
)
def test_a_refused_visit_does_not_count(
    visitor: Client,
    api: APIClient,
    make_link: MakeLink,
    *,
    method: str,
    changes: dict[str, Any],
    headers: dict[str, str],
    status: int,
) -> None:
    link = make_link()
    api.put(f"/api/urls/{link['_id']}", changes)

    response = visitor.generic(method, f"/{link['shortCode']}", headers=headers, REMOTE_ADDR=AMERICAN)

    assert response.status_code == status
    assert clicks(api, link) == 0


def test_visits_after_max_clicks_are_not_counted(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(restrictions={"maxClicks": 1})

    assert [visitor.get(f"/{link['shortCode']}").status_code for _ in range(3)] == [302, 410, 410]
    assert clicks(api, link) == 1


def test_the_password_page_does_not_count_and_the_unlocked_visit_does(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(password="secret")
    path = f"/{link['shortCode']}"

    token = parse(visitor.get(path)).value_of("csrfmiddlewaretoken")
    wrong = visitor.post(path, {"csrfmiddlewaretoken": token, "password": "wrong"})
    right = visitor.post(path, {"csrfmiddlewaretoken": token, "password": "secret"})
    assert (wrong.status_code, right.status_code, clicks(api, link)) == (401, 303, 0)

    assert visitor.get(path).status_code == 302
    assert clicks(api, link) == 1


def test_reading_listing_and_statistics_agree(
    visitor: Client, api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    links = [make_link(title=f"clicked {times}") for times in range(4)]
    for times, link in enumerate(links):
        for _ in range(times):
            visitor.get(f"/{link['shortCode']}")
            visitor.head(f"/{link['shortCode']}")

    drain()
    listed = api.get("/api/urls?sortBy=clickCount").json()["data"]["urls"]
    statistics = api.get("/api/urls/stats").json()

    assert [clicks(api, link) for link in links] == [0, 1, 2, 3]
    assert [(link["title"], link["clickCount"]) for link in listed] == [
        ("clicked 3", 3),
        ("clicked 2", 2),
        ("clicked 1", 1),
        ("clicked 0", 0),
    ]
    assert [link["clickCount"] for link in statistics["data"]["stats"]["topUrls"]] == [3, 2, 1, 0]
    assert statistics["data"]["stats"]["totalClicks"] == statistics["totalClicks"] == 6
    assert strange_api.get("/api/urls/stats").json()["totalClicks"] == 0
