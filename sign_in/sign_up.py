"""Sign-up with a confirmed address. `sign_in.invitations` creates the accounts of people who were invited.

A mailed link proves the address before the account exists, so that nobody can claim another's address. The link is
signed, not stored. It works once, because then the account exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict
from urllib.parse import urlencode

from allauth.account.fields import PasswordField
from allauth.account.utils import perform_login
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import get_default_password_validators
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.invitations import is_invited
from accounts.mails import MailProblem, is_plain, mail_language, send_mail
from accounts.password_hashing import account_hashing, admit_network
from accounts.selectors import user_of_email
from accounts.services import MAX_PASSWORD_CHARACTERS, UNUSUAL_ADDRESS, create_account
from common.errors import Conflict, InvalidFields, TooManyAttempts
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
        raise ValidationError(gettext(UNUSUAL_ADDRESS))


class Address(forms.Form):
    email = _LowerCaseEmail(
        validators=[_require_plain],
        label=_("Email"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class _Chosen(TypedDict):
    """The arguments of `create_account` that people choose."""

    password: str
    first_name: str
    last_name: str
    language: str | None


def _least_length() -> str:
    text: str = get_default_password_validators()[0].get_help_text()
    return text


class NewAccount(forms.Form):
    first_name = forms.CharField(label=_("First name (optional)"), required=False, max_length=100)
    last_name = forms.CharField(label=_("Last name (optional)"), required=False, max_length=100)
    password = PasswordField(
        label=_("Password"),
        help_text=lazy(_least_length, str)(),
        max_length=MAX_PASSWORD_CHARACTERS,
        autocomplete="new-password",
    )
    repeated = PasswordField(
        label=_("Password (again)"), max_length=MAX_PASSWORD_CHARACTERS, autocomplete="new-password"
    )

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("password") != self.cleaned_data.get("repeated"):
            self.add_error("repeated", _("The passwords differ."))
        return self.cleaned_data

    @property
    def account(self) -> _Chosen:
        fields = self.cleaned_data
        return _Chosen(
            password=fields["password"],
            first_name=fields["first_name"],
            last_name=fields["last_name"],
            language=get_language(),
        )

    def add_refusals(self, error: InvalidFields) -> None:
        for broken in error.errors:
            self.add_error(_FIELDS.get(broken.field), broken.message)


_FIELDS = {"firstName": "first_name", "lastName": "last_name", "password": "password"}


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
    with mail_language(user_of_email(sign_up.email)):
        return send_mail(sign_up.email, gettext("Your account"), _text(sign_up))


def read_link(token: str) -> SignUp | None:
    """What the link says, or None if it is not valid, has expired, or was used."""
    try:
        email, target = CurrentKeySigner(salt=_SALT).unsign_object(token, max_age=LINK_SECONDS)
    except signing.BadSignature:
        return None
    return SignUp(email, target) if user_of_email(email) is None and _is_open_to(email) else None


def _is_open_to(email: str) -> bool:
    return settings.SIGNUP == "open" or (settings.SIGNUP == "invited" and is_invited(email))


def _text(sign_up: SignUp) -> str:
    if user_of_email(sign_up.email) is not None:
        text = known_account_text()
    elif _is_open_to(sign_up.email):
        target = sign_up.target if is_own_page(sign_up.target) else ""
        token = CurrentKeySigner(salt=_SALT).sign_object([sign_up.email, target])
        path = reverse("account_confirm_signup", kwargs={"token": token})
        sentence = gettext("To create your account at {service}, open this link within one day:")
        text = f"{sentence.format(service=settings.BASE_HOST)}\n\n{settings.BASE_URL}{path}"
    else:
        text = gettext(
            "Somebody requested an account for this address at {service}. Only people who were invited get one, and"
            " nobody has invited this address."
        ).format(service=settings.BASE_HOST)
    return f"{text}\n\n{not_you()}"


def known_account_text(target: str = "") -> str:
    """For the owner of an address whose account a sign-up must not reveal to anybody else."""
    sentence = gettext("You already have an account at {service}. Sign in here:").format(
        service=settings.BASE_HOST
    )
    query = f"?{urlencode({'next': target})}" if target else ""
    return f"{sentence}\n\n{settings.BASE_URL}{reverse('account_login')}{query}"


def not_you() -> str:
    return gettext("If you did not request it, ignore this mail.")


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
            user = create_account(email=confirmed.email, **form.account).user
    except InvalidFields as error:
        form.add_refusals(error)
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
