"""Who may claim, read and delete a domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.accounts import account, key_client
from tests.domains.claims import names

# A repeated claim makes a statement fail, which would break the transaction of an ordinary test.
pytestmark = pytest.mark.django_db(transaction=True)


def test_claims_require_a_plan_with_custom_domains(
    claim: Callable[..., dict[str, Any]], alice: NewAccount
) -> None:
    free = key_client(account("free@example.com").api_key)
    response = free.post("/api/domains", {"domain": "go.brand.example"})
    assert response.status_code == 403
    assert response.json() == {
        "success": False,
        "message": "Custom domains are available on the Pro and Enterprise plans.",
        "code": "plan_required",
    }
    assert not Domain.objects.exists()
    assert names(free) == []
    claim(client=key_client(account("big@example.com", plan="enterprise").api_key))


def test_read_and_delete_still_work_after_a_downgrade(
    api: APIClient, alice: NewAccount, claim: Callable[..., dict[str, Any]]
) -> None:
    domain = claim()
    User.objects.filter(pk=alice.user.pk).update(plan="free")
    path = f"/api/domains/{domain['_id']}"
    assert names(api) == ["go.brand.example"]
    assert api.get(path).status_code == 200
    assert api.post(f"{path}/verify").status_code == 403
    assert api.delete(path).status_code == 200


@pytest.mark.parametrize(("method", "path"), [("get", ""), ("post", "/verify"), ("delete", "")])
def test_another_owners_domain_is_not_found(
    api: APIClient,
    strange_api: APIClient,
    claim: Callable[..., dict[str, Any]],
    method: str,
    path: str,
) -> None:
    domain = claim()
    for identifier in (
        domain["_id"],
        str(uuid4()),
        "base",
        "x",
        domain["_id"] + "0",
        str(Domain.objects.get().pk),
    ):
        response = getattr(strange_api, method)(f"/api/domains/{identifier}{path}")
        assert response.status_code == 404, identifier
        assert response.json() == {
            "success": False,
            "message": "Domain not found.",
            "code": "not_found",
        }
    assert names(api) == ["go.brand.example"]


def test_a_token_authenticates_like_a_key(bearer: APIClient, claim: Callable[..., dict[str, Any]]) -> None:
    domain = claim(client=bearer)
    assert names(bearer) == ["go.brand.example"]
    assert bearer.delete(f"/api/domains/{domain['_id']}").json() == {
        "success": True,
        "message": "Domain deleted successfully.",
    }
    assert names(bearer) == []
