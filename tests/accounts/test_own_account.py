"""People read and change their own account and password with a token."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount, create_account
from testing.accounts.accounts import PASSWORD, account, bearer_client
from tests.accounts.own_account import errors


def me(client: APIClient) -> dict[str, Any]:
    response = client.get("/api/auth/me")
    body = response.json()
    assert (response.status_code, body) == (200, {"success": True, "data": {"user": body["data"]["user"]}})
    return body["data"]["user"]


# Reading


def test_an_account_reads_itself(alice: NewAccount, bearer: APIClient, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "pro": 3000}
    settings.LINK_QUOTAS = {**settings.LINK_QUOTAS, "pro": 50_000}
    settings.DOMAINS_PER_ACCOUNT, settings.QR_CODES_PER_ACCOUNT = 100, 100_000
    settings.STORAGE_LIMITS = {**settings.STORAGE_LIMITS, "pro": 7}
    assert me(bearer) == {
        "_id": str(alice.user.public_id),
        "email": "alice@example.com",
        "firstName": "Ada",
        "lastName": "Lovelace",
        "language": None,
        "plan": "pro",
        "limits": {
            "requestsPerMinute": 3000,
            "linksPerMonth": 50_000,
            "domains": 100,
            "qrCodes": 100_000,
            "storedBytes": 7_000_000,
        },
        "workspaces": [
            {"_id": str(alice.user.public_id), "name": "Personal", "isPersonal": True, "role": "owner"}
        ],
        "isStaff": False,
        "hasTwoFactors": False,
    }


def test_limits_are_null_without_a_limit_and_zero_without_the_right(db: None, settings: Settings) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 0)
    settings.LINK_QUOTAS = dict.fromkeys(settings.LINK_QUOTAS, 0)
    settings.DOMAINS_PER_ACCOUNT = settings.QR_CODES_PER_ACCOUNT = 0
    settings.STORAGE_LIMITS = dict.fromkeys(settings.STORAGE_LIMITS, 0)
    none = dict.fromkeys(("requestsPerMinute", "linksPerMonth", "domains", "qrCodes", "storedBytes"))
    assert me(bearer_client(account("a@example.com", plan="enterprise").user))["limits"] == none
    # The Free plan has no custom domains.
    assert me(bearer_client(account("b@example.com").user))["limits"] == {**none, "domains": 0}


def test_a_stranger_reads_and_changes_only_its_own_account(
    alice: NewAccount, stranger: NewAccount, bearer: APIClient
) -> None:
    client = bearer_client(stranger.user)
    assert me(client)["email"] == "mallory@example.com"
    before = me(bearer)
    body = {"_id": before["_id"], "firstName": "Eve", "email": "mallory@example.com"}
    assert client.patch("/api/auth/me", body).status_code == 200
    assert (me(bearer), me(client)["firstName"]) == (before, "Eve")


def test_staff_see_that_they_are(db: None) -> None:
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    assert me(bearer_client(operator.user))["isStaff"] is True


# Changing the name


def test_a_name_can_be_changed(bearer: APIClient) -> None:
    before = me(bearer)
    response = bearer.patch("/api/auth/me", {"firstName": "Augusta"})
    changed = {**before, "firstName": "Augusta"}
    assert (response.status_code, response.json()) == (
        200,
        {"success": True, "message": "Account updated successfully.", "data": {"user": changed}},
    )
    assert me(bearer) == changed
    bearer.patch("/api/auth/me", {"firstName": "", "lastName": "\u738b" * 100})
    assert me(bearer) == {**changed, "firstName": "", "lastName": "\u738b" * 100}


def test_a_whole_account_can_be_sent_back(bearer: APIClient) -> None:
    before = me(bearer)
    response = bearer.patch("/api/auth/me", before)
    assert (response.status_code, "warnings" in response.json()) == (200, False)
    assert bearer.patch("/api/auth/me", {"email": "ALICE@example.com"}).status_code == 200
    assert me(bearer) == before


def test_read_only_fields_are_ignored(bearer: APIClient) -> None:
    before = me(bearer)
    body = {"_id": "x", "plan": "enterprise", "isStaff": True, "limits": {"linksPerMonth": None}}
    assert bearer.patch("/api/auth/me", body).status_code == 200
    assert me(bearer) == before


def test_another_email_is_refused_and_changes_nothing(bearer: APIClient) -> None:
    before = me(bearer)
    response = bearer.patch("/api/auth/me", {"firstName": "Eve", "email": "eve@example.com"})
    assert errors(response) == [("email", "immutable")]
    assert me(bearer) == before


@pytest.mark.parametrize(
    ("value", "code"),
    [(None, "null"), (5, "invalid"), ([], "invalid"), ("x" * 101, "max_length"), ("a\0", None)],
)  # fmt: skip
@pytest.mark.parametrize("name", ["firstName", "lastName"])
def test_an_invalid_name_is_refused(name: str, value: object, code: str | None, bearer: APIClient) -> None:
    before = me(bearer)
    response = bearer.patch("/api/auth/me", {name: value})
    assert response.status_code == 400
    if code is not None:
        assert errors(response) == [(name, code)]
    assert me(bearer) == before
