"""The pages of accounts that are not allauth's own, such as the list of sessions, and changes to some of its pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from allauth.account import views as account
from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.views import ReauthenticateWebAuthnView, RemoveWebAuthnView
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.caps import lock_account
from accounts.identities import identities_of
from accounts.second_factor import accepts
from accounts.sessions.lifecycle import end_other_sessions, end_session, live_sessions
from analytics.visitors.visitor import IGNORING_COOKIE, asks_to_be_ignored
from sign_in.adapters import SecondFactorAdapter

View = Callable[..., HttpResponse]


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    identities = identities_of(request.user)  # type: ignore[arg-type] # logged in
    return render(request, "sign_in/home.html", {"identities": identities})


@require_safe
@login_required
@reauthentication_required(app="accounts")  # type: ignore[untyped-decorator] # allauth has no types
def confirm(request: HttpRequest) -> HttpResponse:
    """Let users confirm who they are, for the dashboard, and return to the page in ``next``."""
    return redirect(get_next_redirect_url(request) or "account_home")


# Browsers keep no cookie for longer.
IGNORED_SECONDS = 400 * 24 * 60 * 60


@require_http_methods(["GET", "HEAD", "POST"])
def own_visits(request: HttpRequest) -> HttpResponse:
    """Lets anybody choose that the visits of this browser do not count, on the host of this page."""
    if request.method != "POST":
        is_ignored = asks_to_be_ignored(request.META.get("HTTP_COOKIE", ""))
        return render(request, "sign_in/own_visits.html", {"is_ignored": is_ignored})
    response = redirect("account_own_visits")
    if request.POST.get("ignore") == "1":
        response.set_cookie(
            IGNORING_COOKIE,
            "1",
            max_age=IGNORED_SECONDS,
            secure=request.is_secure(),
            httponly=True,
            samesite="Lax",
        )
    else:
        response.delete_cookie(IGNORING_COOKIE, samesite="Lax")
    return response


def password_reset(request: HttpRequest) -> HttpResponse:
    if settings.SENDS_MAIL and settings.PASSWORD_LOGIN:
        response: HttpResponse = account.password_reset(request)
        return response
    return render(request, "sign_in/no_mail.html")


def _for_passwords(view: View) -> View:
    """While PASSWORD_LOGIN is off, nobody can set a password, not even with a link that was mailed before."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **parameters: Any) -> HttpResponse:
        if settings.PASSWORD_LOGIN:
            return view(request, *args, **parameters)
        return render(request, "sign_in/no_password.html", status=403)

    return guarded


password_change = _for_passwords(account.password_change)
password_reset_from_key = _for_passwords(account.password_reset_from_key)


@require_safe
@login_required
def no_password(request: HttpRequest) -> HttpResponse:
    """The page of accounts without a password.

    With no current one to ask for, allauth would let anybody with access to the browser set a password.
    """
    return render(request, "sign_in/no_password.html")


class Authenticate(AuthenticateView):
    """Offers only the factors that the account has. allauth would ask everybody for a security key."""

    def get_context_data(self, **parameters: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**parameters)
        factors = Authenticator.objects.filter(user=self.stage.login.user)
        kinds = set(factors.values_list("type", flat=True))
        context["has_app"] = Authenticator.Type.TOTP in kinds
        context["has_passkey"] = Authenticator.Type.WEBAUTHN in kinds
        return context


class ActivateTotp(ActivateTOTPView):
    """The code that activates an authenticator app cannot be used again to log in."""

    def form_valid(self, form: forms.Form) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        activated = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
        accepts(activated, form.cleaned_data["code"])
        return response


class RemovePasskey(RemoveWebAuthnView):
    # Django's DELETE would remove the passkey without the check and the history of a POST.
    http_method_names = ["get", "head", "post"]

    def form_valid(self, form: forms.Form) -> HttpResponse:
        adapter = SecondFactorAdapter()
        if not adapter.can_delete_authenticator(self.get_object()):
            messages.error(self.request, adapter.error_messages["cannot_delete_authenticator"])
            return redirect(self.get_success_url())
        response: HttpResponse = super().form_valid(form)
        return response


class ReauthenticateWithPasskey(ReauthenticateWebAuthnView):
    """Stays on its page if the passkey is refused. allauth's leads to the login page, which leads elsewhere."""

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        for message in form.errors.get("credential", []):
            messages.error(self.request, str(message))
        return redirect(self.passthrough_next_url(self.request.path))


@require_safe
@login_required
def sessions(request: HttpRequest) -> HttpResponse:
    """The list has no addresses, because the service stores none."""
    listed = live_sessions(request.user)  # type: ignore[arg-type] # logged in
    return render(request, "sign_in/sessions.html", {"sessions": listed, "current": _stored_key(request)})


@require_POST
@login_required
def end_one_session(request: HttpRequest, session: UUID) -> HttpResponse:
    """End a session. An unknown one, or one of another account, gets the same response."""
    end_session(request.user, session)  # type: ignore[arg-type] # logged in
    return redirect("account_sessions")


@require_POST
@login_required
def end_all_other_sessions(request: HttpRequest) -> HttpResponse:
    end_other_sessions(request.user, _stored_key(request))  # type: ignore[arg-type] # logged in
    return redirect("account_sessions")


def _stored_key(request: HttpRequest) -> str | None:
    session: Any = request.session
    key: str | None = session.stored_key
    return key


_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


def one_at_a_time(view: View) -> View:
    """Run each request with an unsafe method in a transaction that locks the account's row.

    So the state that the view reads cannot change before it changes a factor: concurrent requests neither remove the
    last two factors nor exceed a limit. The change and its row in the history are in the same transaction.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **parameters: Any) -> HttpResponse:
        if request.method in _SAFE_METHODS or request.user.pk is None:
            return view(request, *args, **parameters)
        with transaction.atomic():
            lock_account(request.user.pk)
            return view(request, *args, **parameters)

    return wrapper
