"""allauth's forms, with checks of the service."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm, ResetPasswordForm
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from accounts.second_factor import MAX_CHARACTERS, WrongOtp, use_code
from accounts.selectors import user_of_email
from accounts.services import PasswordLoginOff
from common.errors import TooManyAttempts
from pages.responses import refuse_attempts
from sign_in import refusals
from sign_in.adapters import AccountAdapter
from sign_in.mails import spend_mail_of_request


class Login(LoginForm):
    def clean(self) -> dict[str, Any]:
        if not settings.PASSWORD_LOGIN:
            raise ValidationError(PasswordLoginOff.message)
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
            raise ValidationError(error.message) from None
        except TooManyAttempts as error:
            refusal = refuse_attempts(context.request, refusals.LOGIN_LIMITED, error)
            raise ImmediateHttpResponse(refusal) from None
        return code


class Authenticate(_OneTimeCode, AuthenticateForm):
    pass


class Reauthenticate(_OneTimeCode, ReauthenticateForm):
    pass
