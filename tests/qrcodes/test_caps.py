"""The cap on the QR codes of an account."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from qrcodes.models import QrCode
from testing.accounts.accounts import key_client
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def three(settings: Settings) -> None:
    settings.QR_CODES_PER_ACCOUNT = 3


def make(client: APIClient, url_id: str, size: int) -> Any:
    return client.post("/api/qr-codes", {"urlId": url_id, "size": size})


def test_an_account_has_at_most_the_cap_of_qr_codes(three: None, api: APIClient, make_link: MakeLink) -> None:
    url_id = make_link()["_id"]
    responses = [make(api, url_id, 300 + number) for number in range(4)]
    assert [response.status_code for response in responses] == [201, 201, 201, 403]
    assert responses[3].json() == {
        "success": False,
        "message": "An account may have at most 3 QR codes. Delete one first.",
        "code": "quota_exceeded",
    }
    # An existing code is returned again.
    assert make(api, url_id, 300).json() == responses[0].json()
    first = responses[0].json()["data"]["qrCode"]["_id"]
    assert api.delete(f"/api/qr-codes/{first}").status_code == 200
    assert [make(api, url_id, size).status_code for size in (400, 500)] == [201, 403]


def test_the_cap_applies_per_account(
    three: None, api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    url_id = make_link()["_id"]
    assert [make(api, url_id, 300 + n).status_code for n in range(3)] == [201] * 3
    strangers_link = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"][
        "url"
    ]
    assert make(strange_api, strangers_link["_id"], 300).status_code == 201


def test_zero_disables_the_cap(settings: Settings, api: APIClient, make_link: MakeLink) -> None:
    settings.QR_CODES_PER_ACCOUNT = 0
    assert make(api, make_link()["_id"], 300).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_concurrent_creates_do_not_exceed_the_cap(
    three: None, alice: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    links = [make_link()["_id"] for _ in range(4)]

    def code(number: int) -> int:
        return make(key_client(alice.api_key), links[number % 4], 300 + number).status_code

    assert sorted(at_once([partial(code, number) for number in range(12)])) == [201] * 3 + [403] * 9
    assert QrCode.objects.count() == 3
