"""Second factors that are lost: what the history, operators and commands do."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command

from accounts.models import Change, User
from accounts.services import NewAccount, create_account
from testing.accounts.accounts import PASSWORD
from testing.accounts.admin import Operator, audit, messages_of
from testing.sign_in.pages import browser
from testing.sign_in.totp import add_totp
from testing.sign_in.totp import clock as clock
from tests.sign_in.second_factor.factors import set_up

# Recovery codes are created after the commit of an authenticator app.
pytestmark = pytest.mark.django_db(transaction=True)


def test_operators_do_not_see_second_factors(alice: NewAccount) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    client = browser()
    client.force_login(alice.user)
    for path in ("mfa/authenticator/", "account/emailaddress/"):
        assert client.get(f"/admin/{path}").status_code == 404


def test_the_history_has_each_change_of_second_factors(alice: NewAccount) -> None:
    client = browser()
    set_up(client)
    removal = client.post("/accounts/2fa/totp/deactivate/")
    changes = Change.objects.filter(object_id=alice.user.public_id, via="page").order_by("id")
    set_requests, removal_requests = (
        {change.request_id for change in part} for part in (changes[:2], changes[2:])
    )
    assert removal_requests == {removal["X-Request-ID"]}
    assert len(set_requests | removal_requests) == 2
    assert [(change.actor, change.before, change.after) for change in changes] == [
        (alice.user, {}, {"authenticatorApp": "set"}),
        (alice.user, {}, {"recoveryCodes": "set"}),
        (alice.user, {"authenticatorApp": "set"}, {"authenticatorApp": "removed"}),
        (alice.user, {"recoveryCodes": "set"}, {"recoveryCodes": "removed"}),
    ]


def test_an_operator_removes_lost_factors(alice: NewAccount, stranger: NewAccount) -> None:
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    for user in (alice.user, stranger.user):
        add_totp(user)
    client = Operator(headers={"host": "sho.rt"})
    client.force_login(operator)
    client.act("accounts/user/", "remove_second_factors", [alice.user])
    assert set(Authenticator.objects.values_list("user", flat=True)) == {stranger.user.pk}
    assert audit() == [("operator@example.com", "alice@example.com", "Second factors removed.")]
    changes = Change.objects.filter(object_id=alice.user.public_id, via="operator")
    assert [change.after for change in changes.order_by("id")] == [
        {"authenticatorApp": "removed"},
        {"recoveryCodes": "removed"},
    ]


def test_operators_do_not_remove_their_own_factors(alice: NewAccount) -> None:
    """The account pages do, after the password was entered again."""
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    for user in (operator, alice.user):
        add_totp(user)
    client = Operator(headers={"host": "sho.rt"})
    client.force_login(operator)
    response = client.act("accounts/user/", "remove_second_factors", User.objects.all())
    assert messages_of(response) == ["1 accounts changed."]
    assert set(Authenticator.objects.values_list("user", flat=True)) == {operator.pk}


@pytest.mark.parametrize(("superuser", "kept"), [(False, {"staff@example.com"}), (True, set())])
def test_only_superusers_remove_factors_of_staff(superuser: bool, kept: set[str], alice: NewAccount) -> None:
    clerk, staff = (
        create_account(email=f"{name}@example.com", password=PASSWORD).user for name in ("clerk", "staff")
    )
    User.objects.filter(pk__in=[clerk.pk, staff.pk]).update(is_staff=True)
    User.objects.filter(pk=clerk.pk).update(is_superuser=superuser)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user"]))
    for user in (staff, alice.user):
        add_totp(user)
    client = Operator(headers={"host": "sho.rt"})
    client.force_login(clerk)
    client.act("accounts/user/", "remove_second_factors", [staff, alice.user])
    assert set(Authenticator.objects.values_list("user__email", flat=True)) == kept


def test_a_command_removes_lost_factors(
    alice: NewAccount, stranger: NewAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    for user in (alice.user, stranger.user):
        add_totp(user)
    call_command("remove_second_factors", "Alice@example.com")
    assert capsys.readouterr().out == "Removed: 2\n"
    assert set(Authenticator.objects.values_list("user", flat=True)) == {stranger.user.pk}
    with pytest.raises(CommandError, match="Unknown account"):
        call_command("remove_second_factors", "nobody@example.com")
