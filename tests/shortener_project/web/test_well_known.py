"""The well-known addresses of the service, and that no other host has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from shortener_project.configuration.variables import SECURITY_CONTACT
from testing.visitors.browsers import FOREIGN_HOSTS
from testing.visitors.browsers import browser as browser

SECURITY_TXT = "/.well-known/security.txt"
CHANGE_PASSWORD = "/.well-known/change-password"


def test_security_txt_names_the_contact(browser: Client, settings: Settings) -> None:
    settings.SECURITY_CONTACT = "mailto:security@example.com"
    response = browser.get(SECURITY_TXT)
    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    expires = datetime.fromisoformat(fields.pop("Expires"))
    assert timedelta(days=80) < expires - datetime.now(UTC) < timedelta(days=365)
    assert fields == {
        "Contact": "mailto:security@example.com",
        "Canonical": "http://sho.rt/.well-known/security.txt",
        "Preferred-Languages": "en",
    }
    assert (browser.head(SECURITY_TXT).content, browser.post(SECURITY_TXT).status_code) == (b"", 405)


def test_without_a_contact_there_is_no_security_txt(browser: Client, db: None) -> None:
    assert browser.get(SECURITY_TXT).status_code == 404


def test_a_password_manager_finds_the_page(browser: Client, settings: Settings, db: None) -> None:
    response = browser.get(CHANGE_PASSWORD)
    assert (response.status_code, response["Location"]) == (302, "/accounts/password/change/")
    settings.PASSWORD_LOGIN = False
    assert browser.get(CHANGE_PASSWORD).status_code == 404
    # Otherwise, password managers would not believe the redirect.
    assert (
        browser.get(
            "/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200"
        ).status_code
        == 404
    )


@pytest.mark.parametrize("path", [SECURITY_TXT, CHANGE_PASSWORD])
def test_other_hosts_do_not_name_the_service(
    path: str, browser: Client, settings: Settings, alice: NewAccount
) -> None:
    settings.SECURITY_CONTACT = "mailto:security@example.com"
    Domain.objects.create(
        owner=alice.workspace, domain="customer.example", host="customer.example", status="active"
    )
    for host in ("customer.example", *FOREIGN_HOSTS):
        response = browser.get(path, headers={"host": host})
        assert (response.status_code, b"sho.rt" in response.content) == (404, False), host


def test_no_code_hides_a_well_known_address(api: APIClient, browser: Client) -> None:
    """Imports may have codes with points."""
    row = "originalUrl,shortCode\nhttps://example.com/,.well-known\n"
    [result] = api.post("/api/urls/import", {"content": row}).json()["data"]["results"]
    assert (result["success"], browser.get("/.well-known").status_code) == (False, 404)


@pytest.mark.parametrize(
    ("text", "contact"),
    [
        ("", ""),
        ("security@example.com", "mailto:security@example.com"),
        ("mailto:security@example.com", "mailto:security@example.com"),
        ("https://example.com/report?x=1", "https://example.com/report?x=1"),
        ("tel:+1-201-555-0123", "tel:+1-201-555-0123"),
    ],
)
def test_a_contact_is_a_uri(text: str, contact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", text)
    assert SECURITY_CONTACT.read() == contact


@pytest.mark.parametrize(
    "text",
    [
        "somebody",
        "http://example.com/",
        "a@b\nExpires: never",
        "a b@example.com",
        "https://",
        "javascript:a@b",
    ],
)
def test_another_contact_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", text)
    with pytest.raises(ImproperlyConfigured, match=r"^SECURITY_CONTACT must be an e-mail address"):
        SECURITY_CONTACT.read()
