"""E-mail addresses whose lower case is longer than the limit of 254 characters."""

from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import Invitation, User
from accounts.services import NewAccount, create_account
from common.errors import InvalidFields
from testing.accounts.admin import Operator
from testing.accounts.workspaces import team

pytestmark = pytest.mark.django_db
# Lower case turns the capital dotted I into two characters.
LABELS = ["\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}" * 20] + ["a" * 60] * 3 + ["b" * 35, "example"]
ADDRESS = f"ada@{'.'.join(LABELS)}"


def test_the_address_is_short_enough_only_before_lower_case() -> None:
    assert len(ADDRESS) <= 254 < len(ADDRESS.lower())


def test_account_with_an_address_that_grows_is_refused() -> None:
    with pytest.raises(InvalidFields) as refusal:
        create_account(email=ADDRESS)
    assert [error.field for error in refusal.value.errors] == ["email"]
    assert User.objects.count() == 0


def test_invitation_of_an_address_that_grows_is_400(alice: NewAccount, bearer: APIClient) -> None:
    path = f"/api/workspaces/{team(alice).public_id}/invitations"
    response = bearer.post(path, {"role": "viewer", "email": ADDRESS})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "email")
    assert Invitation.objects.count() == 0


def test_sign_up_with_an_address_that_grows_mails_nothing(settings: Settings) -> None:
    settings.SENDS_MAIL, settings.SIGNUP = True, "open"
    response = Client(headers={"host": "sho.rt"}).post("/accounts/signup/", {"email": ADDRESS})
    assert response.status_code == 200
    assert list(response.context["form"].errors) == ["email"]
    assert mail.outbox == []


def test_operator_cannot_set_an_address_that_grows(operator: Operator, alice: NewAccount) -> None:
    form = {"email": ADDRESS, "first_name": "Ada", "last_name": "Lovelace", "plan": "pro"}
    assert operator.send(f"accounts/user/{alice.user.pk}/change/", **form).status_code == 200
    assert User.objects.get(pk=alice.user.pk).email == "alice@example.com"
