"""The QR codes of links that move to another workspace."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Plan
from accounts.services import NewAccount
from accounts.workspaces import change_plan
from links.models import Link
from qrcodes.models import QrCode
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import key_client_in
from testing.connections import is_a_connection_blocked
from testing.polling import eventually

MakeQrCode = Callable[..., dict[str, Any]]


def move(api: APIClient, target: Workspace, *links: str) -> Any:
    return api.post("/api/urls/move", {"ids": links, "workspaceId": str(target.public_id)})


def codes_of(client: APIClient) -> list[str]:
    return [code["_id"] for code in client.get("/api/qr-codes").json()["data"]["qrCodes"]]


def test_qr_codes_follow_their_link(
    api: APIClient,
    alice: NewAccount,
    marketing: Workspace,
    make_qr_code: MakeQrCode,
    get_image: Callable[..., Any],
) -> None:
    moved, other = make_qr_code(), make_qr_code()
    image = get_image(moved).content
    assert move(api, marketing, moved["urlId"]).status_code == 200
    there = key_client_in(marketing, alice.api_key)
    assert (codes_of(api), codes_of(there)) == ([other["_id"]], [moved["_id"]])
    path = f"/api/qr-codes/{moved['_id']}"
    assert there.get(path).json()["data"]["qrCode"] == moved
    assert get_image(moved).content == image
    assert [client.delete(path).status_code for client in (api, there)] == [404, 200]


def test_more_qr_codes_than_a_workspace_can_have_move_nothing(
    settings: Settings, api: APIClient, alice: NewAccount, marketing: Workspace, make_qr_code: MakeQrCode
) -> None:
    # A plan of its own, so that it does not share the limit of the account.
    change_plan(workspace=marketing, plan=Plan.ENTERPRISE)
    settings.QR_CODES_PER_ACCOUNT = 2
    codes = [make_qr_code() for _ in range(2)]
    plain = api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]["_id"]
    link = codes[0]["urlId"]
    there = key_client_in(marketing, alice.api_key)
    own = there.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]["_id"]
    assert there.post("/api/qr-codes", {"urlId": own}).status_code == 201
    refused = move(api, marketing, *(code["urlId"] for code in codes))
    assert (refused.status_code, refused.json()["code"]) == (403, "quota_exceeded")
    assert Link.objects.filter(owner=marketing).count() == 1
    assert move(api, marketing, link).status_code == 200
    assert QrCode.objects.filter(owner=marketing).count() == 2
    # An undeletion brings its codes back even above the cap, which a link without codes does not concern.
    settings.QR_CODES_PER_ACCOUNT = 1
    assert move(api, marketing, plain).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_deletion_that_waits_for_a_move_deletes_nothing(
    api: APIClient, marketing: Workspace, make_qr_code: MakeQrCode
) -> None:
    code = make_qr_code()

    def delete() -> int:
        try:
            return int(api.delete(f"/api/qr-codes/{code['_id']}").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            QrCode.objects.update(owner=marketing)
            deleted = background.submit(delete)
            eventually(is_a_connection_blocked)
        assert deleted.result() == 404
    assert QrCode.objects.get().owner == marketing
