from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import keys
from accounts.limits import Limit, forgive_attempts, spend_attempts
from accounts.models import ApiKey, User
from accounts.plans import Plan
from accounts.selectors import sealed_key_of, user_of_email
from accounts.tokens import TokenPair, issue_tokens, refresh_access_token
from common.client_address import client_network
from common.errors import Conflict, FieldError, InvalidFields, ServiceError


class BadCredentials(ServiceError):
    """One sentence for every reason, so that nobody learns which e-mails have an account."""

    status = 401
    code = "not_authenticated"
    message = "The e-mail or the password is wrong."


class BadToken(ServiceError):
    status = 401
    code = "not_authenticated"
    message = "The refresh token is not valid or has expired."


_LOGINS_PER_NETWORK = Limit(attempts=10, seconds=15 * 60)
# Wider than the first, so that a stranger alone cannot lock an owner out.
_LOGINS_PER_ACCOUNT = Limit(attempts=100, seconds=60 * 60)
# Of all accounts together: a few passwords tried on many accounts are stopped, too.
_LOGINS_FROM_NETWORK = Limit(attempts=100, seconds=60 * 60)


_CHANGEABLE = ("email", "first_name", "last_name", "plan", "is_staff", "is_superuser")


class NewAccount(NamedTuple):
    user: User
    password: str
    api_key: str


def log_in(*, email: str, password: str, address: str) -> TokenPair:
    """``address`` is the client's. Raises BadCredentials, after the same work whether or not the account exists,
    or TooManyAttempts, before any."""
    user = user_of_email(email)
    limits = login_limits(email=email, address=address)
    spend_attempts(limits)
    if user is None:
        make_password(password)
        raise BadCredentials
    if not user.check_password(password) or not user.is_active:
        raise BadCredentials
    forgive_attempts(limits)
    return issue_tokens(user)


def login_limits(*, email: str, address: str, most: int = _LOGINS_PER_NETWORK.attempts) -> dict[str, Limit]:
    """What an attempt to log in is to be spent of, at whichever door; ``most`` failures there from one network."""
    network = client_network(address)
    return {
        f"login {email.lower()} {network}": Limit(most, _LOGINS_PER_NETWORK.seconds),
        f"login {email.lower()}": _LOGINS_PER_ACCOUNT,
        f"login from {network}": _LOGINS_FROM_NETWORK,
    }


def refresh(*, refresh_token: str) -> str:
    token = refresh_access_token(refresh_token)
    if token is None:
        raise BadToken
    return token


def rotate_api_key(*, user: User) -> str:
    """A new key in place of the old one, which is dead on every worker once this returns: keys are never cached."""
    key = keys.new_key()
    ApiKey.objects.update_or_create(
        user=user,
        defaults={
            "digest": keys.digest(key),
            "sealed": keys.seal(key, str(user.public_id), settings.SECRET_KEY),
            "created_at": timezone.now(),
        },
    )
    return key


def read_api_key(*, user: User) -> str | None:
    sealed = sealed_key_of(user)
    if sealed is None:
        return None
    return keys.unseal(sealed, str(user.public_id), [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])


def create_account(
    *,
    email: str,
    password: str | None = None,
    plan: str = Plan.FREE,
    superuser: bool = False,
    first_name: str = "",
    last_name: str = "",
) -> NewAccount:
    """An account with its API key; a password is made up when none is given. Raises InvalidFields or Conflict."""
    try:
        validate_email(email)
    except ValidationError as error:
        raise InvalidFields([FieldError("email", "invalid", str(error.message))]) from None
    lengths = [
        ("email", email, 1, 254),
        ("password", password, 1, 128),
        ("firstName", first_name, 0, 100),
        ("lastName", last_name, 0, 100),
    ]
    for field, value, least, most in lengths:
        if value is not None and not least <= len(value) <= most:
            raise InvalidFields([FieldError(field, "length", f"Must have {least} to {most} characters.")])
    password = secrets.token_urlsafe(12) if password is None else password
    try:
        with transaction.atomic():
            create = User.objects.create_superuser if superuser else User.objects.create_user
            user = create(email, password, plan=plan, first_name=first_name, last_name=last_name)
            return NewAccount(user, password, rotate_api_key(user=user))
    except IntegrityError:
        raise Conflict(f"There is an account for {email} already.") from None


def change_account(*, user: User, changes: Mapping[str, Any]) -> None:
    """Writes the given fields and no others, so that nothing older is written back; what is no plain field is left."""
    fields = {name: changes[name] for name in _CHANGEABLE if name in changes}
    for name, value in fields.items():
        setattr(user, name, value)
    if fields:
        user.save(update_fields=list(fields))


def set_active(*, user: User, is_active: bool) -> None:
    """A disabled account's key, tokens and sessions are refused at once, everywhere; its links go on."""
    user.is_active = is_active
    user.save(update_fields=["is_active"])
