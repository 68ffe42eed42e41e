"""The page of an invitation to a workspace. It ends in an account, whatever SIGNUP says.

The address of a new account is that of the invitation. If the service sends mails, a mailed link proves it first: the
inviter knows the token, too, and must not get an account with the address of somebody else.
"""

from __future__ import annotations

from typing import Any

from allauth.account.utils import perform_login
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.invitations import (
    INVITATION_PATH,
    AlreadyMember,
    InvitationForAnother,
    TooManyMembers,
    accept,
    accept_as_new_account,
    find_invitation,
    mailed_token,
    proven_address,
)
from accounts.mails import mail_language, send_mail
from accounts.models import INVITATION_DAYS, Invitation, Member, User
from accounts.password_hashing import account_hashing, admit_network
from accounts.rights import Role
from accounts.second_factor import lacks_second_factor
from accounts.selectors import user_of_email
from accounts.workspaces import TooManyMemberships, TooManyWorkspaces
from common.errors import Conflict, InvalidFields, NotFound, TooManyAttempts
from common.http.client_address import address_of_client
from pages.responses import refuse_attempts
from sign_in import refusals
from sign_in.refusals import refuse_mail, spend_mail_of_request
from sign_in.sign_up import Address, NewAccount, known_account_text, not_you

_REFUSALS = (AlreadyMember, InvitationForAnother, TooManyMembers, TooManyMemberships, TooManyWorkspaces)


_MAY = {
    Role.VIEWER: _("Viewers read links and reports."),
    Role.EDITOR: _("Editors create and change links and QR codes, and read reports."),
    Role.ADMIN: _("Admins manage links, domains and members."),
    Role.OWNER: _("Owners manage everything, and decide who else is an owner."),
}


class _AddressAndAccount(NewAccount, Address):
    """For an invitation without an address, on a service that sends no mail."""

    field_order = ("email",)


class _Nothing(forms.Form):
    """The address is known: a button is enough."""


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """A GET changes nothing."""
    pending = find_invitation(token)
    if pending is None:
        return _gone(request)
    if isinstance(request.user, User):
        return _join(request, request.user, pending, token)
    email = proven_address(pending, token)
    if not settings.PASSWORD_LOGIN or (email is not None and user_of_email(email) is not None):
        return _page(request, pending)
    if email is None and settings.SENDS_MAIL:
        return _confirm_address(request, pending, token)
    return _create(request, pending, token, email or pending.email)


def _join(request: HttpRequest, user: User, pending: Invitation, token: str) -> HttpResponse:
    if pending.email not in ("", user.email):
        status = InvitationForAnother.status if request.method == "POST" else 200
        return _page(request, pending, problem=InvitationForAnother.message, is_closed=True, status=status)
    if request.method != "POST":
        return _page(request, pending)
    if lacks_second_factor(user):
        return redirect("mfa_index")
    try:
        return _welcome(accept(account=user, token=token))
    except NotFound:
        return _gone(request)
    except _REFUSALS as error:
        return _page(request, pending, problem=error.message, status=error.status)


def _confirm_address(request: HttpRequest, pending: Invitation, token: str) -> HttpResponse:
    """Mail the link that proves the address. The response does not tell whether the address has an account."""
    kind = _Nothing if pending.email else Address
    form = kind(request.POST) if request.method == "POST" else kind()
    if request.method != "POST" or not form.is_valid():
        return _page(request, pending, form=form, sends_link=True)
    email = pending.email or form.cleaned_data["email"]
    spend_mail_of_request(request, email)
    user = user_of_email(email)
    with mail_language(user):
        if user is not None:
            text = known_account_text(target=request.path)
        else:
            sentence = gettext("To create your account at {service}, open this link within {days} days:")
            path = INVITATION_PATH.format(token=mailed_token(token, email))
            text = f"{sentence.format(service=settings.BASE_HOST, days=INVITATION_DAYS)}\n\n{settings.BASE_URL}{path}"
        problem = send_mail(email, gettext("Your account"), f"{text}\n\n{not_you()}")
    return redirect("account_signup_sent") if problem is None else refuse_mail(request, problem)


def _create(request: HttpRequest, pending: Invitation, token: str, email: str) -> HttpResponse:
    kind = NewAccount if email else _AddressAndAccount
    form = kind(request.POST) if request.method == "POST" else kind()
    if request.method != "POST" or not form.is_valid():
        return _page(request, pending, form=form, email=email)
    chosen = email or form.cleaned_data["email"]
    try:
        with admit_network(account_hashing, address_of_client(request)):
            member = accept_as_new_account(token=token, email=chosen, **form.account)
    except InvalidFields as error:
        form.add_refusals(error)
    except NotFound:
        return _gone(request)
    except _REFUSALS as error:
        return _page(request, pending, problem=error.message, status=error.status)
    except Conflict:
        form.add_error(None, _("This address cannot get a new account. If it has one, sign in to accept."))
    except TooManyAttempts as error:
        return refuse_attempts(request, refusals.LOGIN_LIMITED, error)
    else:
        target = _welcome(member)["Location"]
        response: HttpResponse = perform_login(
            request, member.user, email_verification="none", redirect_url=target
        )
        return response
    return _page(request, pending, form=form, email=email)


def _page(request: HttpRequest, pending: Invitation, status: int = 200, **context: Any) -> HttpResponse:
    inviter = pending.invited_by
    context |= {
        "invitation": pending,
        "inviter": f"{inviter.full_name} ({inviter.email})" if inviter.full_name else inviter.email,
        "role_may": _MAY[Role(pending.role)],
    }
    return render(request, "sign_in/invitation.html", context, status=status)


def _welcome(member: Member) -> HttpResponse:
    return redirect(f"{settings.LOGIN_REDIRECT_URL}?workspace={member.workspace.public_id}")


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "sign_in/no_invitation.html", status=404)
