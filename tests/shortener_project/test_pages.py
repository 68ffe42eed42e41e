import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.journal.writer import journal
from domains.models import Domain
from testing.agents import FIREFOX
from testing.service.polling import DEADLINE

PROJECT = Path(__file__).resolve().parents[2]
OWN_PAGES = ["/healthz", "/readyz", "/robots.txt"]
FOREIGN_HOSTS = [
    "go.customer.example",
    "sho.rt.evil.example",
    "evil-sho.rt",
    "xsho.rt",
    "sho.rt.evil.example:80",
    "",
    " ",
    "sho.rt@evil.example",
    "sho.rt, evil.example",
    "sho.rt/",
    "sho rt",
    "127.0.0.1.evil.example",
    "x" * 300,
]


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "sho.rt", "user-agent": FIREFOX, "accept": "text/html"})


@pytest.fixture
def customers_domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="customer.example", subdomain="go", host="go.customer.example", status="active"
    )  # fmt: skip


def shown(response: HttpResponse) -> tuple[int, Any, str | None]:
    return response.status_code, response.json(), response.headers.get("Retry-After")


# Documentation


@pytest.mark.parametrize("link", ["/api/docs", "/api/schema"])
def test_without_scripts_the_start_page_links_to_the_public_documentation(link: str, browser: Client) -> None:
    assert f'href="{link}"' in browser.get("/", follow=True).content.decode()
    assert browser.get(link).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_the_root_rejects_other_methods(method: str, browser: Client) -> None:
    response = browser.generic(method, "/")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


# Health


def test_healthz_returns_200(browser: Client) -> None:
    response = browser.get("/healthz")
    assert shown(response) == (200, {"status": "ok"}, None)
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"


def test_readyz_reports_the_database(browser: Client, db: None) -> None:
    response = browser.get("/readyz")
    assert shown(response) == (200, {"status": "ok", "database": "ok", "clicks": "ok"}, None)
    assert response.headers["Cache-Control"] == "no-store"


def test_readyz_is_503_while_too_many_clicks_wait_to_be_counted(
    browser: Client, settings: Settings, db: None
) -> None:
    settings.CLICK_BACKLOG_MB = 1
    for _ in range(17):
        journal().append(b"x" * 65_000)
    expected = {"status": "unavailable", "database": "ok", "clicks": "the backlog is above its limit"}
    assert shown(browser.get("/readyz")) == (503, expected, "2")
    settings.CLICK_BACKLOG_MB = 2
    assert browser.get("/readyz").status_code == 200


@pytest.mark.parametrize("app", ["accounts", "links", "domains", "analytics", "sessions"])
def test_readyz_is_503_while_a_migration_is_missing(app: str, browser: Client, db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE id = (SELECT max(id) FROM django_migrations WHERE app = %s)",
            [app],
        )
        assert cursor.rowcount == 1
    response = browser.get("/readyz")
    assert shown(response) == (503, {"status": "unavailable", "database": "migrations are missing"}, "2")
    assert response.headers["Cache-Control"] == "no-store"


def test_readyz_ignores_migrations_of_a_newer_version(browser: Client, db: None) -> None:
    """The old version keeps serving during a rollout of a new one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('links', '9999_from_the_future', now())"
        )
    assert browser.get("/readyz").status_code == 200


ASK_WITHOUT_A_DATABASE = """
import json, django
django.setup()
from django.test import Client
client = Client(headers={"host": "sho.rt"}, raise_request_exception=False)
login = {"email": "a@example.com", "password": "x"}
responses = {path: client.get(path) for path in ["/healthz", "/", "/robots.txt", "/readyz", "/AbC1234", "/api/urls"]}
responses["login"] = client.post("/api/auth/login", login, content_type="application/json")
responses["key"] = client.get("/api/urls", headers={"x-api-key": "KEY"})
print(json.dumps({name: [response.status_code, response.headers.get("Retry-After"), response.headers["Content-Type"],
    response.content.decode()] for name, response in responses.items()}))
"""


def test_without_a_database_only_database_pages_return_503(alice: NewAccount) -> None:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
        "DATABASE_URL": "postgres://nobody:x@127.0.0.1:1/nothing",
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK_WITHOUT_A_DATABASE.replace("KEY", alice.api_key)],
        cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=True,
    )  # fmt: skip
    responses = json.loads(done.stdout)
    assert {name: response[:3] for name, response in responses.items()} == {
        "/healthz": [200, None, "application/json"],
        "/": [302, None, "text/html; charset=utf-8"],
        "/robots.txt": [200, None, "text/plain"],
        "/readyz": [503, "2", "application/json"],
        "/AbC1234": [503, "2", "text/html; charset=utf-8"],
        "/api/urls": [401, None, "application/json"],
        "login": [503, "2", "application/json"],
        "key": [503, "2", "application/json"],
    }
    assert json.loads(responses["/readyz"][3]) == {"status": "unavailable", "database": "unreachable"}
    assert json.loads(responses["login"][3]) == {
        "success": False,
        "message": "The service is temporarily unavailable. Try again shortly.",
        "code": "unavailable",
    }
    assert "127.0.0.1:1" not in "".join(response[3] for response in responses.values())


# robots.txt


def test_robots_txt_disallows_the_api_and_the_admin(browser: Client) -> None:
    response = browser.get("/robots.txt")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/plain")
    assert (
        response.content.decode()
        == "User-agent: *\nDisallow: /accounts/\nDisallow: /api/\nDisallow: /admin/\n"
    )


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_robots_txt_of_a_foreign_host_names_no_path(host: str, browser: Client) -> None:
    response = browser.get("/robots.txt", headers={"host": host})
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/plain")
    assert response.content.decode() == "User-agent: *\nDisallow:\n"


def test_favicon_returns_204(browser: Client) -> None:
    response = browser.get("/favicon.ico")
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Cache-Control"] == "public, max-age=86400"


# Methods


@pytest.mark.parametrize("path", OWN_PAGES)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_pages_reject_other_methods(method: str, path: str, browser: Client) -> None:
    response = browser.generic(method, path)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", OWN_PAGES)
def test_head_responds_like_get_without_the_body(path: str, browser: Client, db: None) -> None:
    response, head = browser.get(path), browser.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == response.headers["Content-Type"]


# Hosts


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/robots.txt"])
@pytest.mark.parametrize("host", ["go.customer.example", "10.0.0.7:8000", ""])
def test_health_pages_work_on_any_host(host: str, path: str, browser: Client, db: None) -> None:
    assert browser.get(path, headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_the_root_of_a_foreign_host_leads_nowhere(host: str, browser: Client, db: None) -> None:
    response = browser.get("/", headers={"host": host})
    assert (response.status_code, response.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    json_response = browser.get("/", headers={"host": host, "accept": "application/json"})
    assert (json_response.status_code, json_response.json()["success"], json_response.json()["reason"]) == (
        404,
        False,
        "not_found",
    )


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_api_returns_404_on_a_foreign_host(host: str, bearer: APIClient) -> None:
    for path in ("/api", "/api/urls", "/api/auth/api-key", "/api/docs", "/api/nothing"):
        response = bearer.get(path, headers={"host": host})
        assert (response.status_code, response.headers["Content-Type"], response.json()) == (
            404,
            "application/json",
            {"success": False, "message": "Not found.", "code": "not_found"},
        )


def test_api_returns_404_on_a_custom_domain(customers_domain: Domain, api: APIClient) -> None:
    host = {"host": customers_domain.host}
    responses = [
        api.get("/api/urls", headers=host),
        api.post("/api/urls", {"originalUrl": "https://example.com/"}, headers=host),
        api.delete("/api/urls/01890000-0000-7000-8000-000000000000", headers=host),
    ]
    assert [response.status_code for response in responses] == [404, 404, 404]
    assert api.get("/api/urls").json()["data"]["urls"] == []


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
@pytest.mark.parametrize(
    "path",
    [
        *(
            "/accounts",
            "/accounts/login/",
            "/admin",
            "/admin/",
            "/admin/login/",
            "/static/admin/css/base.css",
        ),
        *("/dashboard", "/dashboard/"),
    ],
)
def test_pages_return_404_on_a_foreign_host(host: str, path: str, browser: Client, db: None) -> None:
    assert browser.get(path, headers={"host": host}).status_code == 404


@pytest.mark.parametrize(
    "host",
    ["sho.rt", "SHO.RT", "sho.rt.", "sho.rt:80", "sho.rt:8000",
     "127.0.0.1:8000", "10.1.2.3", "localhost:8000", "[::1]:8000"],
)  # fmt: skip
def test_all_spellings_of_the_system_host_and_ip_addresses_serve_everything(
    host: str, browser: Client, api: APIClient
) -> None:
    assert browser.get("/", headers={"host": host}).headers["Location"] == "/dashboard/"
    assert browser.get("/dashboard/", headers={"host": host}).status_code == 200
    assert api.get("/api/urls", headers={"host": host}).status_code == 200
    admin = browser.get("/admin/", headers={"host": host})
    assert (admin.status_code, admin.headers["Location"]) == (302, "/admin/login/?next=/admin/")


def test_short_urls_do_not_depend_on_the_host_header(api: APIClient) -> None:
    created = api.post(
        "/api/urls", {"originalUrl": "https://example.com/"}, headers={"host": "127.0.0.1:8000"}
    ).json()["data"]
    assert created["url"]["shortUrl"] == f"http://sho.rt/{created['url']['shortCode']}"
    assert created["domain"]["shortUrl"] == "http://sho.rt"


@pytest.mark.parametrize(
    "code", ["apiary", "api2031", "apis", "administrative", "admin1", "statics", "static1"]
)
def test_code_with_the_prefix_of_a_system_path_works_on_every_host(
    code: str, customers_domain: Domain, api: APIClient, visitor: Client
) -> None:
    for domain, host in ((None, "sho.rt"), (str(customers_domain.public_id), customers_domain.host)):
        created = api.post(
            "/api/urls", {"originalUrl": "https://example.com/", "customCode": code, "domainId": domain}
        )
        assert created.status_code == 201
        response = visitor.get(f"/{code}", headers={"host": host})
        assert (response.status_code, response.headers.get("Location")) == (302, "https://example.com/")


def test_static_paths_cannot_traverse_directories(browser: Client, db: None) -> None:
    paths = ["/static/", "/static", "/static/../manage.py", "/static/%2e%2e/manage.py", "/static//etc/passwd"]
    assert [browser.get(path).status_code for path in paths] == [404] * len(paths)
    served = browser.get("/static/admin/css/base.css")
    assert b"".join(served.streaming_content).startswith(b"/*")
    served.close()
    assert served.status_code == 200
    assert settings.DEBUG is False
