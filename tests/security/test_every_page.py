"""What holds for every page that a browser might show, whoever answers it. The routes are those that there are."""

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
from redirects import refusals
from redirects.pages import refuse
from tests.conftest import FIREFOX, PASSWORD
from tests.contract.test_every_route import patterns

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
def nobody() -> Client:
    return Client(enforce_csrf_checks=True, raise_request_exception=False, headers=HEADERS)


@pytest.fixture
def something_of_everything(make_link: MakeLink, alice: NewAccount, api: Any) -> dict[str, Any]:
    Group.objects.create(name="Group")
    Domain.objects.create(
        owner=alice.user, domain="example.net", host="example.net", status=DomainStatus.ACTIVE
    )
    link = make_link(customCode="locked", password="secret")
    api.post("/api/qr-codes", {"urlId": link["_id"]})
    return link


def all_paths(link: dict[str, Any]) -> Iterator[str]:
    """Every route with something that is really there in the place of each of its parameters."""
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
    # Without these, default-src speaks for them.
    assert {"object-src", "frame-src", "child-src", "worker-src"} & policy.keys() == set(), path
    for name in ("script-src", "style-src"):
        for source in policy.get(name, "").split():
            assert source == "'self'" or re.fullmatch(r"'sha256-[\w+/=]{44}'", source), path
    assert response["X-Content-Type-Options"] == "nosniff", path
    assert response["X-Frame-Options"] == "DENY", path
    assert response["Cross-Origin-Opener-Policy"] == "same-origin", path
    assert response["Referrer-Policy"] == "strict-origin-when-cross-origin", path
    assert re.search(r"no-store|no-cache", response["Cache-Control"]), path


def test_every_route_that_answers_a_page_protects_it(
    operator: Client, nobody: Client, something_of_everything: dict[str, Any]
) -> None:
    """ASVS 3.2.1"""
    found = set()
    for path in all_paths(something_of_everything):
        for client in (operator, nobody):
            for method in ("GET", "POST", "BREW"):
                response = client.generic(method, path)
                if is_page(response):
                    assert_protected(response, f"{method} {path}")
                    found.add((method, path, response.status_code))

    models = [(model._meta.app_label, model._meta.model_name) for model in admin_models()]
    expected = {("GET", f"/admin/{app}/{model}/", 200) for app, model in models}
    expected |= {("GET", path, 200) for path in ("/", "/api/docs", "/admin/", "/admin/login/")}
    expected |= {("GET", "/admin/nothing/there", 404), ("POST", "/admin/", 403)}
    expected |= {("GET", f"/{something_of_everything['shortCode']}", 401)}
    assert expected - found == set()


def admin_models() -> list[type]:
    from django.contrib import admin  # noqa: PLC0415 # its sites are complete only once every app is loaded

    return list(admin.site._registry)


@pytest.mark.parametrize(
    "refusal",
    [each for each in vars(refusals).values() if isinstance(each, refusals.Refusal)],
    ids=lambda refusal: refusal.title,
)
def test_every_refusal_is_protected(refusal: refusals.Refusal, rf: Any) -> None:
    templates = ["redirects/refusal.html"]
    templates += ["redirects/password.html"] if refusal.reason == "password" else []
    for template in templates:
        response = refuse(rf.get("/code"), refusal, template=template)
        assert response.status_code == refusal.status
        assert_protected(response, refusal.title)


def test_a_bug_is_answered_with_a_protected_page(nobody: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redirects.views.find_target", lambda *_: 1 / 0)

    response = nobody.get("/AbC1234")

    assert response.status_code == 500
    assert_protected(response, "a bug")


def test_no_file_runs_or_embeds_anything_when_it_is_opened_by_itself(nobody: Client, db: None) -> None:
    """ASVS 3.2.1: one of Swagger UI's files is a page with a script, and pictures may hold scripts."""
    names = {name for finder in get_finders() for name, _ in finder.list([])}
    opened = [name for name in names if name.endswith((".html", ".svg"))]
    assert [name for name in opened if name.endswith("oauth2-redirect.html")] != []
    for name in [*opened, "admin/css/base.css", "admin/js/core.js"]:
        response = nobody.get(f"/static/{name}")
        policy = directives(response)
        assert (response.status_code, policy["default-src"], policy["sandbox"]) == (200, "'none'", ""), name
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in response
        response.close()


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/robots.txt", "/api/schema", "/api/urls", "/api/nothing"]
)
def test_what_is_no_page_is_not_taken_for_one(path: str, nobody: Client, db: None) -> None:
    """ASVS 3.2.1"""
    response = nobody.get(path)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert not response["Content-Type"].startswith("text/html")


# TLS


def test_over_tls_browsers_are_told_to_stay_there(settings: Settings, db: None) -> None:
    settings.SECURE_HSTS_SECONDS = 31_536_000
    client = Client(headers=HEADERS)
    paths = [
        "/",
        "/healthz",
        "/api/docs",
        "/api/urls",
        "/admin/login/",
        "/unknown",
        "/static/admin/css/base.css",
    ]

    told = {}
    for path in paths:
        for secure in (True, False):
            response = client.get(path, secure=secure)
            told[path, secure] = response.headers.get("Strict-Transport-Security")
            response.close()

    assert told == {(path, secure): "max-age=31536000" if secure else None for path, secure in told}


def test_without_tls_nobody_is_told_to_use_it(nobody: Client) -> None:
    assert django_settings.SECURE_HSTS_SECONDS == 0
    assert "Strict-Transport-Security" not in nobody.get("/", secure=True)


# Cookies


def test_the_cookies_of_the_admin_are_out_of_reach(settings: Settings, db: None) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    client = Client(enforce_csrf_checks=True, headers=HEADERS)
    client.get("/admin/login/", secure=True)
    token = client.cookies["csrftoken"].value

    answer = client.post(
        "/admin/login/",
        {"username": "operator@example.com", "password": PASSWORD, "csrfmiddlewaretoken": token},
        secure=True,
        headers={"origin": "https://sho.rt"},
    )

    assert answer.status_code == 302
    flags = {
        name: {
            flag: client.cookies[name][flag] for flag in ("secure", "httponly", "samesite", "path", "domain")
        }
        for name in ("sessionid", "csrftoken")
    }
    everywhere = {"secure": True, "httponly": True, "samesite": "Lax", "path": "/", "domain": ""}
    assert flags == {"sessionid": {**everywhere, "path": "/admin/"}, "csrftoken": everywhere}
