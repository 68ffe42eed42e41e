import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from accounts.services import NewAccount
from testing.cases import for_each
from testing.polling import DEADLINE
from testing.visitors.browsers import FOREIGN_HOSTS
from testing.visitors.browsers import browser as browser

PROJECT = Path(__file__).resolve().parents[3]
OWN_PAGES = ["/healthz", "/readyz", "/robots.txt"]


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


@pytest.mark.slow
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
    assert json.loads(responses["/readyz"][3]) == {"status": "unavailable"}
    refused = json.loads(responses["login"][3])
    assert refused["message"] == "The service is temporarily unavailable. Try again shortly."
    assert (refused["code"], refused["docs"]) == ("unavailable", "http://sho.rt/api/docs/errors/unavailable")
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


@for_each("path", OWN_PAGES)
@for_each("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_pages_reject_other_methods(method: str, path: str, browser: Client) -> None:
    response = browser.generic(method, path)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", OWN_PAGES)
def test_head_responds_like_get_without_the_body(path: str, browser: Client, db: None) -> None:
    response, head = browser.get(path), browser.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == response.headers["Content-Type"]


def test_static_paths_cannot_traverse_directories(browser: Client, db: None) -> None:
    paths = ["/static/", "/static", "/static/../manage.py", "/static/%2e%2e/manage.py", "/static//etc/passwd"]
    assert [browser.get(path).status_code for path in paths] == [404] * len(paths)
    served = browser.get("/static/admin/css/base.css")
    assert b"".join(served.streaming_content).startswith(b"/*")
    served.close()
    assert served.status_code == 200
    assert settings.DEBUG is False
