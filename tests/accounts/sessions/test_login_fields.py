"""The fields of a login, and their limits."""

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD
from testing.cases import for_each
from tests.accounts.sessions.logins import alice as alice


@for_each("value", [None, 5, 5.0, True, [], {}, ["alice@example.com"], ""])
@for_each("field", ["email", "password"])
def test_login_field_that_is_not_a_string_is_named(
    field: str, value: object, alice: NewAccount, anonymous: APIClient
) -> None:
    response = anonymous.post(
        "/api/auth/login", {"email": "alice@example.com", "password": PASSWORD, field: value}
    )
    expected = {
        "": ("blank", "This field may not be blank."),
        None: ("null", "This field may not be null."),
    }
    code, sentence = expected[value] if value in ("", None) else ("invalid", "Not a valid string.")
    assert (response.status_code, response.json()) == (
        400,
        {
            "success": False,
            "message": f"{field}: {sentence}",
            "code": "validation_error",
            "errors": [{"field": field, "code": code, "message": sentence}],
        },
    )


def test_login_names_every_missing_field_at_once(anonymous: APIClient) -> None:
    response = anonymous.post("/api/auth/login", {})
    sentence = "This field is required."
    assert (response.status_code, response.json()) == (
        400,
        {
            "success": False,
            "message": f"email: {sentence}",
            "code": "validation_error",
            "errors": [
                {"field": "email", "code": "required", "message": sentence},
                {"field": "password", "code": "required", "message": sentence},
            ],
        },
    )


@pytest.mark.parametrize(("field", "longest"), [("email", 254), ("password", 128)])
def test_too_long_login_field_is_refused_before_any_work(
    field: str, longest: int, db: None, anonymous: APIClient
) -> None:
    fields = {"email": "nobody@example.com", "password": "x", field: "x" * longest}
    assert anonymous.post("/api/auth/login", fields).status_code == 401
    response = anonymous.post("/api/auth/login", {**fields, field: "x" * (longest + 1)})
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, "max_length")]


@pytest.mark.parametrize(
    "headers", [{"x-api-key": "wrong"}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}]
)
def test_login_ignores_other_credentials(
    headers: dict[str, str], alice: NewAccount, anonymous: APIClient
) -> None:
    response = anonymous.post(
        "/api/auth/login", {"email": "alice@example.com", "password": PASSWORD}, headers=headers
    )
    assert response.status_code == 200
