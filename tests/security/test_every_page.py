"""Rules for every page that a browser might display. The routes are read from the service."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.contrib.staticfiles.finders import get_finders
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver
from pytest_django import Settings

from accounts.models import User
from accounts.services import NewAccount, create_account
from domains.models import Domain, DomainStatus
from pages.responses import refuse
from redirects import refusals
from testing.accounts.accounts import PASSWORD
from testing.contract.every_route import patterns
from testing.visitors.agents import FIREFOX

MakeLink = Callable[..., dict[str, Any]]
PROJECT = Path(__file__).parents[2]
HEADERS = {"host": "sho.rt", "user-agent": FIREFOX, "accept": "text/html"}


@pytest.fixture
def operator(db: None) -> Client:
    user = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    client = Client(enforce_csrf_checks=True, raise_request_exception=False, headers=HEADERS)
    client.force_login(user)
    return client


@pytest.fixture
def anonymous_client() -> Client:
    return Client(enforce_csrf_checks=True, raise_request_exception=False, headers=HEADERS)


@pytest.fixture
def existing_objects(make_link: MakeLink, alice: NewAccount, api: Any) -> dict[str, Any]:
    Group.objects.create(name="Group")
    Domain.objects.create(
        owner=alice.workspace, domain="example.net", host="example.net", status=DomainStatus.ACTIVE
    )
    link = make_link(customCode="locked", password="secret")
    api.post("/api/qr-codes", {"urlId": link["_id"]})
    return link


def all_paths(link: dict[str, Any]) -> Iterator[str]:
    """Every route, with existing objects as parameters."""
    for pattern, _ in patterns(get_resolver()):
        if "app_label" in pattern:
            labels = re.search(r"app_label>([\w|]+)", pattern)
            assert labels is not None
            yield from (f"/admin/{label}/" for label in labels[1].split("|"))
            continue
        path = pattern.replace("(?P<url>.*)$", "nothing/there")
        model = re.match(r"/admin/(\w+)/(\w+)/.*<(?:path:object_)?id>", path)
        if model is not None:
            manager = apps.get_model(model[1], model[2])._default_manager
            path = re.sub(r"<(?:path:object_)?id>", str(manager.values_list("pk", flat=True).first()), path)
        path = path.replace("<path:content_type_id>", str(ContentType.objects.get_for_model(User).pk))
        path = path.replace("<path:object_id>", "1").replace("<code:code>", link["shortCode"])
        path = path.replace("<code_before_slash:code>", link["shortCode"])
        path = path.replace("<token:token>.<image_format:image_format>", "x" * 22 + ".png")
        yield re.sub(r"<\w+:\w+>", link["_id"], path)


def is_page(response: HttpResponse) -> bool:
    content = b"" if response.streaming else response.content
    return response.headers.get("Content-Type", "").startswith("text/html") and content != b""


def directives(response: HttpResponse) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in response["Content-Security-Policy"].split(";"))
    return {name: sources for name, _, sources in parts}


def assert_protected(response: HttpResponse, path: str) -> None:
    policy = directives(response)
    assert policy["default-src"] == "'none'", path
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'", path
    # Without these, default-src applies.
    assert {"object-src", "frame-src", "child-src", "worker-src"} & policy.keys() == set(), path
    for name in ("script-src", "style-src"):
        for source in policy.get(name, "").split():
            assert source == "'self'" or re.fullmatch(r"'sha256-[\w+/=]{44}'", source), path
    assert response["X-Content-Type-Options"] == "nosniff", path
    assert response["X-Frame-Options"] == "DENY", path
    assert response["Cross-Origin-Opener-Policy"] == "same-origin", path
    assert response["Referrer-Policy"] == "strict-origin-when-cross-origin", path
    assert re.search(r"no-store|no-cache", response["Cache-Control"]), path


@pytest.mark.slow
def test_every_page_has_protective_headers(
    operator: Client, anonymous_client: Client, existing_objects: dict[str, Any]
) -> None:
    """ASVS 3.2.1"""
    pages_seen = set()
    for path in all_paths(existing_objects):
        for client in (operator, anonymous_client):
            for method in ("GET", "POST", "BREW"):
                response = client.generic(method, path)
                if is_page(response):
                    assert_protected(response, f"{method} {path}")
                    pages_seen.add((method, path, response.status_code))

    models = [(model._meta.app_label, model._meta.model_name) for model in admin_models()]
    expected = {("GET", f"/admin/{app}/{model}/", 200) for app, model in models}
    expected |= {("GET", path, 200) for path in ("/dashboard/", "/api/docs", "/admin/", "/accounts/login/")}
    expected |= {("GET", "/admin/nothing/there", 404), ("POST", "/admin/", 403)}
    expected |= {("GET", f"/{existing_objects['shortCode']}", 401)}
    assert expected - pages_seen == set()


def admin_models() -> list[type]:
    from django.contrib import admin  # noqa: PLC0415 # its sites are complete only once every app is loaded

    return list(admin.site._registry)


@pytest.mark.parametrize(
    "refusal",
    [declared for declared in vars(refusals).values() if isinstance(declared, refusals.Refusal)],
    ids=lambda refusal: refusal.title,
)
def test_every_refusal_has_protective_headers(refusal: refusals.Refusal, rf: Any) -> None:
    templates = ["pages/refusal.html"]
    templates += ["redirects/password.html"] if refusal.reason == "password" else []
    for template in templates:
        response = refuse(rf.get("/code"), refusal, template=template)
        assert response.status_code == refusal.status
        assert_protected(response, refusal.title)


def test_the_page_of_a_server_error_has_protective_headers(
    anonymous_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redirects.views.find_target", lambda *_: 1 / 0)

    response = anonymous_client.get("/AbC1234")

    assert response.status_code == 500
    assert_protected(response, "a bug")


def test_no_static_file_can_run_or_embed_anything(anonymous_client: Client, db: None) -> None:
    """ASVS 3.2.1: one of Swagger UI's files is a page with a script, and images may contain scripts."""
    names = {name for finder in get_finders() for name, _ in finder.list([])}
    opened = [name for name in names if name.endswith((".html", ".svg"))]
    assert [name for name in opened if name.endswith("oauth2-redirect.html")] != []
    for name in [*opened, "admin/css/base.css", "admin/js/core.js"]:
        response = anonymous_client.get(f"/static/{name}")
        policy = directives(response)
        assert (response.status_code, policy["default-src"], policy["sandbox"]) == (200, "'none'", ""), name
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in response
        response.close()


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/robots.txt", "/api/schema", "/api/urls", "/api/nothing"]
)
def test_other_responses_are_not_interpreted_as_pages(path: str, anonymous_client: Client, db: None) -> None:
    """ASVS 3.2.1"""
    response = anonymous_client.get(path)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert not response["Content-Type"].startswith("text/html")


# TLS


def test_over_tls_hsts_is_sent(settings: Settings, db: None) -> None:
    settings.SECURE_HSTS_SECONDS = 31_536_000
    client = Client(headers=HEADERS)
    paths = [
        "/dashboard/",
        "/healthz",
        "/api/docs",
        "/api/urls",
        "/accounts/login/",
        "/unknown",
        "/static/admin/css/base.css",
    ]

    policies = {}
    for path in paths:
        for secure in (True, False):
            response = client.get(path, secure=secure)
            policies[path, secure] = response.headers.get("Strict-Transport-Security")
            response.close()

    assert policies == {(path, secure): "max-age=31536000" if secure else None for path, secure in policies}


def test_without_tls_no_hsts_is_sent(anonymous_client: Client) -> None:
    assert django_settings.SECURE_HSTS_SECONDS == 0
    assert "Strict-Transport-Security" not in anonymous_client.get("/", secure=True)


# Cookies


def test_the_cookies_of_pages_are_protected(settings: Settings, db: None) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    client = Client(enforce_csrf_checks=True, headers=HEADERS)
    client.get("/accounts/login/", secure=True)
    token = client.cookies["csrftoken"].value

    response = client.post(
        "/accounts/login/",
        {"login": "operator@example.com", "password": PASSWORD, "csrfmiddlewaretoken": token},
        secure=True,
        headers={"origin": "https://sho.rt"},
    )

    assert response.status_code == 302
    flags = {
        name: {
            flag: client.cookies[name][flag] for flag in ("secure", "httponly", "samesite", "path", "domain")
        }
        for name in ("sessionid", "csrftoken")
    }
    everywhere = {"secure": True, "httponly": True, "samesite": "Lax", "path": "/", "domain": ""}
    assert flags == {"sessionid": everywhere, "csrftoken": everywhere}
