"""Connects allauth with the accounts, sessions and limits of the service."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.authentication import get_authentication_records
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext

from accounts.mails import deliver, is_plain, mail_language, signature, subject_of_mail
from accounts.models import User
from accounts.second_factor import (
    count_second_factors,
    handle_of,
    lacks_second_factor,
    needs_second_factor,
    seal_text,
    unseal_text,
)
from accounts.selectors import user_of_email
from accounts.services import LOGIN_KNOWN_FOR, MAX_PASSWORD_CHARACTERS, login_attempt, set_password
from common.errors import TooManyAttempts
from common.http.client_address import address_of_client
from limits.attempts import Limit
from limits.guessing import PER_NETWORK
from pages.responses import refuse_attempts
from sign_in import refusals
from sign_in.refusals import refuse_mail
from sign_in.safe_urls import is_own_page


class PasswordBackend(ModelBackend):
    """Takes the same time whether or not the account exists."""

    def authenticate(  # type: ignore[override] # the credentials are those of allauth's form
        self, request: HttpRequest | None, email: str = "", password: str = "", **others: Any
    ) -> User | None:
        user = user_of_email(email)
        if user is None:
            make_password(password)
            return None
        return user if user.check_password(password) and user.is_active else None


class ResetTokens(PasswordResetTokenGenerator):
    """Accepts no token that was made with a former SECRET_KEY."""

    _secret_fallbacks: ClassVar[list[str]] = []


FAILURES_ALLOWED = Limit(attempts=5, seconds=PER_NETWORK.seconds)


class AccountAdapter(DefaultAccountAdapter):
    """URLs in mails never come from the request, because the client chooses its Host header."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Share the failure counts with the API's login. After too many failures, respond at once with 429."""
        address = address_of_client(request)
        try:
            with login_attempt(
                email=credentials["email"], address=address, per_network=FAILURES_ALLOWED
            ) as attempt:
                user = authenticate(request, **credentials)
                if user is not None:
                    attempt.succeeded(known_for=LOGIN_KNOWN_FOR)
                return user
        except TooManyAttempts as error:
            raise ImmediateHttpResponse(refuse_attempts(request, refusals.LOGIN_LIMITED, error)) from None

    def is_safe_url(self, url: str | None) -> bool:
        return url is not None and is_own_page(url)

    def reauthenticate(self, user: User, password: str) -> bool:
        return self.authenticate(self.request, email=user.email, password=password) == user

    def set_password(self, user: User, password: str) -> None:
        session: Any = self.request.session
        is_own = self.request.user == user
        set_password(user, password, browser_session=session.stored_key if is_own else None)

    def clean_password(self, password: str, user: User | None = None) -> str:
        """The same limit as in the API."""
        if len(password) > MAX_PASSWORD_CHARACTERS:
            text = gettext("A password may have at most {number} characters.")
            raise ValidationError(text.format(number=MAX_PASSWORD_CHARACTERS))
        cleaned: str = super().clean_password(password, user)
        return cleaned

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """While PASSWORD_LOGIN is off, a password is not accepted here, either."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [method for method in methods if settings.PASSWORD_LOGIN or method["id"] != "reauthenticate"]

    def is_reauthentication_required(self, *, app: str, **others: Any) -> bool:
        """Accounts that have neither a usable password nor a second factor confirm by a new login with the provider.

        Otherwise, anybody with access to the user's browser could add a passkey of their own.
        """
        request = context.request
        if not self.get_reauthentication_methods(request.user):
            if _has_just_logged_in(request):
                return False
            target = request.get_full_path() if request.method == "GET" else reverse("account_home")
            raise ImmediateHttpResponse(render(request, "sign_in/confirm.html", {"next": target}))
        required: bool = super().is_reauthentication_required(app=app, **others)
        return required

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        if lacks_second_factor(request.user):  # type: ignore[arg-type] # logged in
            return reverse("mfa_index")
        return str(settings.LOGIN_REDIRECT_URL)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return address_of_client(request)

    def get_reset_password_from_key_url(self, key: str) -> str:
        uid, _, token = key.partition("-")
        return settings.BASE_URL + reverse(
            "account_reset_password_from_key", kwargs={"uidb36": uid, "key": token}
        )

    def format_email_subject(self, subject: str) -> str:
        return subject_of_mail(subject)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        shown = {
            "email": email if is_plain(email) else "",
            "service": settings.BASE_HOST,
            "signature": signature(),
        }
        with mail_language(context.get("user")):
            message = self.render_mail(template_prefix, email, {**context, **shown})
        problem = deliver(message)
        if problem is not None:
            raise ImmediateHttpResponse(refuse_mail(self.request, problem))

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Send the mail after the commit of the change. The change succeeds even if the mail fails."""
        if settings.SENDS_MAIL:
            transaction.on_commit(partial(self._notify, template_prefix, user, context))

    def _notify(self, template_prefix: str, user: User, context: dict[str, Any] | None) -> None:
        with suppress(ImmediateHttpResponse):
            super().send_notification_mail(template_prefix, user, context, email=user.email)


def _has_just_logged_in(request: HttpRequest) -> bool:
    records = get_authentication_records(request, request.user)
    return any(time.time() - record["at"] < REAUTHENTICATION_TIMEOUT for record in records)


class SecondFactorAdapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return seal_text(text)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal_text(encrypted_text)

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """The last factor cannot be removed while REQUIRE_2FA demands one."""
        user = authenticator.user
        return not needs_second_factor(user) or count_second_factors(user) > 1

    def get_totp_issuer(self) -> str:
        return settings.BASE_HOST

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        entity: dict[str, Any] = super().get_public_key_credential_user_entity(user)
        return {**entity, "id": handle_of(user)}

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": settings.BASE_HOST, "name": settings.BASE_HOST}
