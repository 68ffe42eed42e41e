"""The history has identities of an OpenID provider, without their subjects."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount

from accounts.models import Change
from accounts.services import NewAccount

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_before(alice: NewAccount) -> None:
    Change.objects.all().delete()


def connect(account: NewAccount) -> SocialAccount:
    """Connect an identity as allauth does, which opens no transaction."""
    return SocialAccount.objects.create(
        user=account.user, provider="oidc", uid="4711", extra_data={"email": "ada@example.com"}
    )


def changes() -> list[tuple[Any, ...]]:
    """Oldest first."""
    names = ("owner", "actor", "via", "object_id", "action", "before", "after")
    return list(Change.objects.order_by("pk").values_list(*names))


def test_an_identity_is_recorded_as_connected_by_its_account(alice: NewAccount) -> None:
    identity = connect(alice)
    # A login updates what the provider says.
    SocialAccount.objects.update(extra_data={"email": "other@example.com"})
    identity.delete()
    common = (alice.user.pk, alice.user.pk, "page", alice.user.public_id, "account.updated")
    assert changes() == [
        (*common, {}, {"identity": "set"}),
        (*common, {"identity": "set"}, {"identity": "removed"}),
    ]


def test_a_deleted_account_leaves_no_row(alice: NewAccount) -> None:
    connect(alice)
    alice.user.delete()
    assert changes() == []
