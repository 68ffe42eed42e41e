"""allauth's forms, with checks of the service."""

from __future__ import annotations

import struct
from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm, ResetPasswordForm
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as webauthn
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from accounts.second_factor import MAX_CHARACTERS, WrongOtp, count_signature, use_code, user_of_handle
from accounts.selectors import user_of_email
from accounts.services import PasswordLoginOff
from common.errors import TooManyAttempts
from pages.responses import refuse_attempts
from sign_in import refusals
from sign_in.adapters import AccountAdapter
from sign_in.refusals import spend_mail_of_request


class Login(LoginForm):
    def clean(self) -> dict[str, Any]:
        if not settings.PASSWORD_LOGIN:
            raise ValidationError(gettext(PasswordLoginOff.message))
        cleaned: dict[str, Any] = super().clean()
        return cleaned


class ChangePassword(ChangePasswordForm):
    """A wrong current password counts as a failed login."""

    def clean_oldpassword(self) -> str:
        password: str = self.cleaned_data["oldpassword"]
        adapter = AccountAdapter()
        if not adapter.reauthenticate(self.user, password):
            raise adapter.validation_error("enter_current_password")
        return password


class ResetPassword(ResetPasswordForm):
    """Send a mail to any address, so that neither the page nor its response time reveals which have an account."""

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        spend_mail_of_request(context.request, email)
        user = user_of_email(email)
        # Accounts without a password belong to people who log in with the OpenID provider.
        has_password = user is not None and user.is_active and user.has_usable_password()
        self.users = [user] if has_password else []
        return email


class _OneTimeCode(forms.Form):
    """Uses up a code of an authenticator app or a recovery code."""

    user: Any

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        try:
            self.authenticator = use_code(self.user, code[:MAX_CHARACTERS])
        except WrongOtp as error:
            raise ValidationError(gettext(error.message)) from None
        except TooManyAttempts as error:
            refusal = refuse_attempts(context.request, refusals.LOGIN_LIMITED, error)
            raise ImmediateHttpResponse(refusal) from None
        return code


class Authenticate(_OneTimeCode, AuthenticateForm):
    pass


class Reauthenticate(_OneTimeCode, ReauthenticateForm):
    pass


MAX_PASSKEYS = 20
NOT_ACCEPTED = "This passkey was not accepted. Try again, or use another one."
COPIED = (
    "This passkey was not accepted, because a copy of it may exist. Sign in another way, remove it from your account"
    " and add it again."
)
_MAX_NAME = 100
# Raised for bytes and JSON that no authenticator sends.
_MALFORMED = (
    *(AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError),
    struct.error,
)


class Credential(forms.JSONField):
    """JSON as browsers write it: base64 and identifiers, without an escape sequence."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and "\\" in value:
            raise _invalid()
        try:
            parsed = super().to_python(value)
        except (RecursionError, ValueError):
            raise _invalid() from None
        if parsed is not None and not isinstance(parsed, dict):
            raise _invalid()
        return parsed

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Do not parse a refused response again: the page does not show it."""
        return initial


def _invalid() -> ValidationError:
    return ValidationError(gettext(NOT_ACCEPTED))


def _check_origin(client_data: Any) -> None:
    """fido2 also accepts subdomains of the host, which may belong to customers. The Host header proves nothing."""
    if client_data.origin != settings.BASE_URL:
        raise _invalid()


class AddPasskey(webauthn.AddWebAuthnForm):
    name = forms.CharField(required=False, max_length=_MAX_NAME)
    credential = Credential(widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        credential = self.cleaned_data.get("credential")
        if not credential:
            return dict(self.cleaned_data)
        passkeys = Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN)
        if passkeys.count() >= MAX_PASSKEYS:
            text = gettext("An account may have at most {number} passkeys.")
            raise ValidationError(text.format(number=MAX_PASSKEYS))
        try:
            _check_origin(auth.parse_registration_response(credential).response.client_data)
            cleaned: dict[str, Any] = super().clean()
        except (*_MALFORMED, ValidationError):
            raise _invalid() from None
        return cleaned


class _Response(forms.Form):
    """The response of an authenticator."""

    credential = Credential(widget=forms.HiddenInput)

    def clean_credential(self) -> Authenticator:
        try:
            response = auth.parse_authentication_response(self.cleaned_data["credential"]).response
            _check_origin(response.client_data)
            self.check(response)
            authenticator: Authenticator = super().clean_credential()  # type: ignore[misc] # of the other base class
        except (*_MALFORMED, ValidationError):
            raise _invalid() from None
        if not count_signature(authenticator, response.authenticator_data.counter):
            raise ValidationError(gettext(COPIED))
        return authenticator

    def check(self, response: Any) -> None:
        """Check the response beyond its origin. Raises ValidationError."""


class AuthenticateWithPasskey(_Response, webauthn.AuthenticateWebAuthnForm):
    pass


class ReauthenticateWithPasskey(_Response, webauthn.ReauthenticateWebAuthnForm):
    pass


class LoginWithPasskey(_Response, webauthn.LoginWebAuthnForm):
    """allauth requires user verification in the challenge of a login, but accepts any challenge in the session.

    The challenge of a second factor does not require it: with it, a stolen security key could log in without its PIN.
    """

    def check(self, response: Any) -> None:
        """A passkey that replaces the password must have verified its user, by a PIN or a fingerprint."""
        self.user = user_of_handle(response.user_handle)
        if self.user is None or not response.authenticator_data.is_user_verified():
            raise _invalid()


class RenamePasskey(webauthn.EditWebAuthnForm):
    name = forms.CharField(max_length=_MAX_NAME)
