"""How people become users: sign-up with a confirmed address, and invitations to workspaces.

A mailed link proves the address before the account exists, so that nobody can claim another's address. The link is
signed, not stored. It works once, because then the account exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allauth.account.fields import PasswordField
from allauth.account.utils import perform_login
from django import forms
from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.invitations import (
    AlreadyMember,
    InvitationForAnother,
    TooManyMembers,
    accept,
    find_invitation,
    is_invited,
)
from accounts.mails import MailProblem, is_plain, send_mail
from accounts.models import User
from accounts.password_hashing import account_hashing, admit_network
from accounts.second_factor import lacks_second_factor
from accounts.selectors import user_of_email
from accounts.services import MAX_PASSWORD_CHARACTERS, UNUSUAL_ADDRESS, create_account
from accounts.workspaces import TooManyMemberships, TooManyWorkspaces
from common.errors import Conflict, InvalidFields, NotFound, TooManyAttempts
from common.http.client_address import address_of_client
from common.secrets import CurrentKeySigner
from pages.responses import refuse_attempts
from sign_in import refusals
from sign_in.refusals import refuse_mail, spend_mail_of_request
from sign_in.safe_urls import is_own_page


class _LowerCaseEmail(forms.EmailField):
    """An address, put into lower case before validation: some letters are longer in lower case."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).lower()


def _require_plain(email: str) -> None:
    if not is_plain(email):
        raise ValidationError(UNUSUAL_ADDRESS)


class Address(forms.Form):
    email = _LowerCaseEmail(
        validators=[_require_plain],
        label=_("Email"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class NewAccount(forms.Form):
    first_name = forms.CharField(label=_("First name"), required=False, max_length=100)
    last_name = forms.CharField(label=_("Last name"), required=False, max_length=100)
    password = PasswordField(
        label=_("Password"), max_length=MAX_PASSWORD_CHARACTERS, autocomplete="new-password"
    )
    repeated = PasswordField(
        label=_("Password (again)"), max_length=MAX_PASSWORD_CHARACTERS, autocomplete="new-password"
    )

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("password") != self.cleaned_data.get("repeated"):
            self.add_error("repeated", "The passwords differ.")
        return self.cleaned_data


LINK_SECONDS = 24 * 60 * 60
_SALT = "sign-up"


@dataclass(frozen=True, slots=True)
class SignUp:
    """``target`` is the page to open afterwards, or ""."""

    email: str
    target: str


def mail_answer(sign_up: SignUp) -> MailProblem | None:
    """Mail the link, or the reason for not sending one. Always sends one mail, so that the page reveals nothing.

    None if the mail server accepted it.
    """
    return send_mail(sign_up.email, "Your account", _text(sign_up))


def read_link(token: str) -> SignUp | None:
    """Return what the link says, or None if it is not valid, has expired, or was used."""
    try:
        email, target = CurrentKeySigner(salt=_SALT).unsign_object(token, max_age=LINK_SECONDS)
    except signing.BadSignature:
        return None
    return SignUp(email, target) if _can_sign_up(email) else None


def _can_sign_up(email: str) -> bool:
    return user_of_email(email) is None and _is_open_to(email)


def _is_open_to(email: str) -> bool:
    return settings.SIGNUP == "open" or (settings.SIGNUP == "invited" and is_invited(email))


def _text(sign_up: SignUp) -> str:
    if user_of_email(sign_up.email) is not None:
        login = settings.BASE_URL + reverse("account_login")
        return f"You already have an account at {settings.BASE_HOST}. Log in here:\n\n{login}\n\n{_NOT_YOU}"
    if not _is_open_to(sign_up.email):
        return (
            f"Somebody requested an account for this address at {settings.BASE_HOST}. Only people who were invited"
            f" get one, and nobody has invited this address.\n\n{_NOT_YOU}"
        )
    target = sign_up.target if is_own_page(sign_up.target) else ""
    token = CurrentKeySigner(salt=_SALT).sign_object([sign_up.email, target])
    link = settings.BASE_URL + reverse("account_confirm_signup", kwargs={"token": token})
    return f"To create your account at {settings.BASE_HOST}, open this link within one day:\n\n{link}\n\n{_NOT_YOU}"


_NOT_YOU = "If you did not request it, ignore this mail."


_FIELDS = {"firstName": "first_name", "lastName": "last_name", "password": "password"}


@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    if settings.SIGNUP == "off":
        if request.method == "POST":
            return HttpResponseNotAllowed(["GET", "HEAD"])
        return render(request, "account/signup_closed.html")
    if request.method != "POST":
        form = Address(initial={"next": request.GET.get("next", "")})
        return render(request, "sign_in/sign_up.html", {"form": form})
    form = Address(request.POST)
    if not form.is_valid():
        return render(request, "sign_in/sign_up.html", {"form": form})
    spend_mail_of_request(request, form.cleaned_data["email"])
    problem = mail_answer(SignUp(form.cleaned_data["email"], form.cleaned_data["next"]))
    if problem is not None:
        return refuse_mail(request, problem)
    return redirect("account_signup_sent")


@require_safe
def sent(request: HttpRequest) -> HttpResponse:
    return render(request, "sign_in/sign_up_sent.html")


@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    confirmed = read_link(token)
    if confirmed is None:
        return _over(request)
    form = NewAccount(request.POST) if request.method == "POST" else NewAccount()
    if request.method == "POST" and form.is_valid():
        response = _create(request, confirmed, form)
        if response is not None:
            return response
    return render(request, "sign_in/sign_up_confirm.html", {"form": form, "email": confirmed.email})


def _create(request: HttpRequest, confirmed: SignUp, form: NewAccount) -> HttpResponse | None:
    """Create the account. Returns None if the service refuses a field; the form then has the error."""
    try:
        with admit_network(account_hashing, address_of_client(request)):
            user = create_account(
                email=confirmed.email,
                password=form.cleaned_data["password"],
                first_name=form.cleaned_data["first_name"],
                last_name=form.cleaned_data["last_name"],
            ).user
    except InvalidFields as error:
        for broken in error.errors:
            form.add_error(_FIELDS.get(broken.field), broken.message)
        return None
    except Conflict:
        # Another request has used the link.
        return _over(request)
    except TooManyAttempts as error:
        return refuse_attempts(request, refusals.LOGIN_LIMITED, error)
    target = confirmed.target or settings.LOGIN_REDIRECT_URL
    response: HttpResponse = perform_login(request, user, email_verification="none", redirect_url=target)
    return response


def _over(request: HttpRequest) -> HttpResponse:
    return render(request, "sign_in/sign_up_over.html", status=410)


_REFUSALS = (AlreadyMember, InvitationForAnother, TooManyMembers, TooManyMemberships, TooManyWorkspaces)


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Visitors without a session log in or sign up first, and then return. A GET changes nothing."""
    pending = find_invitation(token)
    if pending is None:
        return _gone(request)
    user = request.user
    if request.method != "POST" or not isinstance(user, User):
        return render(request, "sign_in/invitation.html", {"invitation": pending})
    if lacks_second_factor(user):
        return redirect("mfa_index")
    try:
        member = accept(account=user, token=token)
    except NotFound:
        return _gone(request)
    except _REFUSALS as error:
        context = {"invitation": pending, "problem": error.message}
        return render(request, "sign_in/invitation.html", context, status=error.status)
    return redirect(f"{settings.LOGIN_REDIRECT_URL}?workspace={member.workspace.public_id}")


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "sign_in/no_invitation.html", status=404)
