"""The pages of sign-up: one takes the address, and the mailed link opens the one that creates the account."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.password_hashing import account_hashing, admit_network
from accounts.services import create_account
from common.errors import Conflict, InvalidFields, TooManyAttempts
from common.http.client_address import address_of_client
from pages.responses import refuse_attempts
from sign_in import refusals
from sign_in.mails import refuse_mail, spend_mail_of_request
from sign_in.sign_up.confirmation import SignUp, mail_answer, read_link
from sign_in.sign_up.forms import Address, NewAccount

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
    """None if the service refuses a field; the form then has the error."""
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
