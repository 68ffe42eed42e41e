"""Reads of accounts."""

from __future__ import annotations

from accounts.models import ApiKey, User
from common.database import read_first


def user_of_email(email: str) -> User | None:
    return read_first(User.objects.filter(email=email.lower()).first)


def key_of(user: User) -> ApiKey | None:
    return read_first(ApiKey.objects.filter(user=user).first)
