"""Which requests with an Idempotency-Key are refused, and that refused ones store nothing."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.api_requests import idempotency
from links.models import Code, Link
from qrcodes.models import QrCode
from tests.accounts.api_requests.idempotent import LINK, count_stored, create, is_replayed


@pytest.mark.parametrize(
    "body",
    [
        {**LINK, "title": "Summer"},
        {**LINK, "password": "x"},
        {"originalUrl": LINK["originalUrl"]},
        {**LINK, "unknown": 1},
        {},
        {"originalUrl": 5},
    ],
)
def test_a_different_body_is_422(api: APIClient, body: dict[str, Any]) -> None:
    create(api, "k")

    refused = create(api, "k", body)

    assert (refused.status_code, refused.json()) == (
        422,
        {
            "success": False,
            "message": "This Idempotency-Key was already used with a different request.",
            "code": "idempotency_mismatch",
        },
    )
    assert (Link.objects.count(), is_replayed(create(api, "k"))) == (1, True)


def test_a_different_endpoint_is_422(api: APIClient) -> None:
    first = create(api, "k")
    body = {"urlId": first.json()["data"]["url"]["_id"]}

    assert create(api, "k", body, "/api/qr-codes").status_code == 422
    assert QrCode.objects.count() == 0


@pytest.mark.parametrize("text", ['{"title": "Spring", "originalUrl": "https://example.com/page"}'])
def test_the_same_body_with_different_formatting_is_the_same(api: APIClient, text: str) -> None:
    first = create(api, "k", {"originalUrl": "https://example.com/page", "title": "Spring"})
    again = api.generic("POST", "/api/urls", text, "application/json", headers={"idempotency-key": "k"})

    assert (again.content, is_replayed(again)) == (first.content, True)


@pytest.mark.parametrize(
    "key", ["x", "x" * 255, "8e03978e-40d5-43e8-bc93-6894a57f9324", '"quoted"', "a b;c=d,%00 ~"]
)
def test_a_key_may_be_any_printable_text(api: APIClient, key: str) -> None:
    assert [is_replayed(create(api, key)) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("key", ["", " ", "a ", "x" * 256, "x" * 5000, "é", "a\tb", "a\0b", "a\x7f"])
def test_an_invalid_key_is_400(api: APIClient, key: str) -> None:
    refused = create(api, key)

    assert refused.status_code == 400
    assert refused.json()["errors"] == [
        {
            "field": "Idempotency-Key",
            "code": "invalid",
            "message": "Must have 1 to 255 printable ASCII characters.",
        }
    ]
    assert Link.objects.count() == 0


@pytest.mark.parametrize(
    "body", [{}, {"originalUrl": "ftp://example.com/"}, {**LINK, "redirectType": 10**30}]
)
def test_an_invalid_request_does_not_use_the_key(api: APIClient, body: dict[str, Any]) -> None:
    assert create(api, "k", body).status_code == 400
    assert count_stored() == 0

    assert (create(api, "k").status_code, Link.objects.count()) == (201, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (LINK, 409),
        ({**LINK, "customCode": "admin"}, 409),
        ({**LINK, "customCode": "other", "domainId": "01890000-0000-7000-8000-000000000000"}, 404),
    ],
)
def test_a_refused_request_creates_nothing_and_is_checked_again(
    api: APIClient, strange_api: APIClient, body: dict[str, Any], status: int
) -> None:
    strange_api.post("/api/urls", LINK)

    assert create(api, "k", body).status_code == status
    assert count_stored() == 0
    assert create(api, "k", {**LINK, "customCode": "mine"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_code_becomes_free_between_two_attempts(api: APIClient) -> None:
    """A statement that fails reveals the hold of a deleted link, inside a transaction as well as outside."""
    link = api.post("/api/urls", LINK).json()["data"]["url"]
    assert create(api, "k").status_code == 409
    api.delete(f"/api/urls/{link['_id']}")

    assert [(create(api, "k").status_code, Link.objects.count()) for _ in range(2)] == [(201, 1)] * 2


@pytest.mark.django_db(transaction=True)
def test_a_server_error_stores_neither_link_nor_response(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> bytes:
        raise RuntimeError("no space")

    api.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr(idempotency.secrets, "seal", fail)
        assert create(api, "k").status_code == 500
    assert (Link.objects.count(), Code.objects.count(), count_stored()) == (0, 0, 0)

    assert [is_replayed(create(api, "k")) for _ in range(2)] == [False, True]
