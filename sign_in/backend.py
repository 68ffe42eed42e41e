"""Authentication with an email address and a password."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.http import HttpRequest

from accounts.models import User
from accounts.selectors import user_of_email


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
