"""Creates accounts, logs them in, and makes the changes that users and operators make to one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts import api_keys
from accounts.callers import personal_workspace
from accounts.history import authored_transaction, record_change
from accounts.identities import mail_after_new_password
from accounts.mails import is_plain, notify
from accounts.models import ApiKey, EndReason, Session, User, Workspace
from accounts.password_hashing import account_hashing, admit_network
from accounts.rights import Plan
from accounts.second_factor import check_second_factor, clear_failures
from accounts.selectors import key_of, user_of_email
from accounts.sessions.lifecycle import (
    SessionEnded,
    end,
    issue_time,
    lock_password,
    rotate_tokens,
    start_session,
)
from accounts.sessions.tokens import TokenPair, issue_tokens, password_fingerprint
from common.errors import Conflict, FieldError, Forbidden, InvalidFields, ServiceError
from common.http.client_address import client_network
from limits.attempts import Limit
from limits.guessing import PER_NETWORK, Guess, begin_guess


class BadCredentials(ServiceError):
    """One message for every reason: the response must not reveal which e-mail addresses have an account."""

    status = 401
    code = "not_authenticated"
    message = "The e-mail or the password is wrong."


class PasswordLoginOff(Forbidden):
    code = "password_login_off"
    message = "This service does not accept passwords. Sign in with single sign-on."


class BadToken(ServiceError):
    status = 401
    code = "not_authenticated"
    message = "The refresh token is not valid or has expired."


# Over all accounts, to stop password spraying: a few passwords tried on many accounts.
_LOGINS_FROM_NETWORK = Limit(attempts=100, seconds=60 * 60)
LOGIN_KNOWN_FOR = timedelta(days=30)
MAX_PASSWORD_CHARACTERS = 128
UNUSUAL_ADDRESS = "Before the @, only letters, digits and . + - _ ' are accepted. Use another address."


_CHANGEABLE = (
    *("email", "first_name", "last_name", "plan", "language"),
    *("is_staff", "is_staff_by_provider", "is_superuser"),
)


class NewAccount(NamedTuple):
    user: User
    password: str
    api_key: str

    @property
    def workspace(self) -> Workspace:
        """The personal workspace, which a trigger created with the account."""
        return personal_workspace(self.user)


def log_in(*, email: str, password: str, address: str, user_agent: str, otp: str | None = None) -> TokenPair:
    """Starts a session. ``address`` is the client's. Raises TooManyAttempts before hashing, or BadCredentials.

    BadCredentials takes the same time whether or not the account exists. With the right password, raises the errors of
    `check_second_factor`. Raises PasswordLoginOff if the operator allows no passwords.
    """
    if not settings.PASSWORD_LOGIN:
        raise PasswordLoginOff
    user = user_of_email(email)
    with login_attempt(email=email, address=address) as attempt:
        if user is None:
            make_password(password)
            raise BadCredentials
        if not user.check_password(password) or not user.is_active:
            raise BadCredentials
        attempt.succeeded(known_for=LOGIN_KNOWN_FOR)
    check_second_factor(user, otp)
    tokens = start_session(user, user_agent)
    if tokens is None:
        # Another request changed the password meanwhile.
        raise BadCredentials
    return tokens


@contextmanager
def login_attempt(*, email: str, address: str, per_network: Limit = PER_NETWORK) -> Iterator[Guess]:
    """Wraps the password check of a login through the API or the admin. Raises TooManyAttempts."""
    network = client_network(address)
    # Admit before counting: a login refused for lack of capacity is not a failed attempt.
    with admit_network(account_hashing, address):
        yield begin_guess(
            f"login {email.lower()}",
            address,
            per_network=per_network,
            extra_limits={f"login from {network}": _LOGINS_FROM_NETWORK},
        )


def refresh(*, refresh_token: str) -> TokenPair:
    tokens = rotate_tokens(refresh_token)
    if tokens is None:
        raise BadToken
    return tokens


def rotate_api_key(*, user: User) -> str:
    """Replaces the API key. Keys are never cached, so every worker rejects the old key once this returns."""
    key = api_keys.new_key()
    with transaction.atomic():
        columns = {**_columns_of(key, user), "read_at": None}
        _, is_new = ApiKey.objects.update_or_create(user=user, defaults=columns)
        action = "key.created" if is_new else "key.replaced"
        record_change(owner_id=user.pk, object_id=user.public_id, action=action)
        notify(
            user, gettext_lazy("API key replaced"), gettext_lazy("The API key of your account was replaced.")
        )
    return key


def _create_api_key(user: User) -> str:
    """The key of a new account, in the transaction that creates it: there is none that it could replace."""
    key = api_keys.new_key()
    ApiKey.objects.create(user=user, **_columns_of(key, user))
    record_change(owner_id=user.pk, object_id=user.public_id, action="key.created")
    return key


def _columns_of(key: str, user: User) -> dict[str, Any]:
    return {
        "digest": api_keys.digest(key),
        "sealed": api_keys.seal(key, str(user.public_id), settings.SECRET_KEY),
        "created_at": timezone.now(),
    }


def read_api_key(*, user: User) -> str | None:
    """The owner gets a mail about the first time that a key is read."""
    stored = key_of(user)
    if stored is None:
        return None
    secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    key = api_keys.unseal(bytes(stored.sealed), str(user.public_id), secret_keys)
    if key is not None and stored.read_at is None:
        with transaction.atomic():
            # Of concurrent calls, one is the first.
            if ApiKey.objects.filter(user=user, digest=stored.digest, read_at=None).update(read_at=Now()):
                notify(
                    user,
                    gettext_lazy("API key shown"),
                    gettext_lazy("The API key of your account was shown for the first time."),
                )
    return key


def create_account(
    *,
    email: str,
    password: str | None = None,
    plan: str = Plan.FREE,
    superuser: bool = False,
    first_name: str = "",
    last_name: str = "",
    language: str | None = None,
    any_address: bool = False,
) -> NewAccount:
    """Creates an account and its API key. Generates a password if None. Raises InvalidFields or Conflict.

    Only operators may choose ``any_address``: mails to others contain a plain one.
    """
    # Before the checks: some letters are longer in lower case.
    address = email.lower()
    try:
        if not address.isprintable():
            # `validate_email` accepts control characters in quotes, and lone surrogates in the domain.
            raise ValidationError(validate_email.message)
        validate_email(address)
        if not any_address and not is_plain(address):
            raise ValidationError(UNUSUAL_ADDRESS)
    except ValidationError as error:
        raise InvalidFields([FieldError("email", "invalid", str(error.message))]) from None
    lengths = [
        ("email", address, 1, 254),
        ("password", password, 1, MAX_PASSWORD_CHARACTERS),
        ("firstName", first_name, 0, 100),
        ("lastName", last_name, 0, 100),
    ]
    for field, value, minimum, maximum in lengths:
        if value is not None and not minimum <= len(value) <= maximum:
            raise InvalidFields(
                [FieldError(field, "length", f"Must have {minimum} to {maximum} characters.")]
            )
    if password is None:
        password = secrets.token_urlsafe(12)
    else:
        check_new_password(password, User(email=address, first_name=first_name, last_name=last_name))
    try:
        with transaction.atomic():
            create = User.objects.create_superuser if superuser else User.objects.create_user
            names = {"first_name": first_name, "last_name": last_name}
            user = create(address, password, plan=plan, language=language, **names)
            return NewAccount(user, password, _create_api_key(user))
    except IntegrityError:
        raise Conflict(f"An account for {email} already exists.") from None


def check_new_password(password: str, user: User, *, field: str = "password") -> None:
    """The rules of ``AUTH_PASSWORD_VALIDATORS``, as in the admin. Raises InvalidFields."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidFields([FieldError(field, "weak", message) for message in error.messages]) from None


def change_account(*, user: User, changes: Mapping[str, Any]) -> None:
    """Saves only the fields in ``changes``, so that it does not overwrite concurrent changes. Ignores other names."""
    fields = {name: changes[name] for name in _CHANGEABLE if name in changes}
    for name, value in fields.items():
        setattr(user, name, value)
    if fields:
        with authored_transaction():
            user.save(update_fields=list(fields))


def set_active(*, user: User, is_active: bool) -> None:
    """All workers reject the key, tokens and sessions of a disabled account at once. Its links keep working."""
    user.is_active = is_active
    with authored_transaction():
        user.save(update_fields=["is_active"])


def record_new_password(user: User) -> None:
    """Record the change of the password to that of ``user``, in the caller's transaction.

    Identities stay connected: for many owners they are the usual way to log in. A mail names them. Whoever entered
    wrong codes with the former password does not know the new one.
    """
    clear_failures(user)
    record_change(
        owner_id=user.pk,
        object_id=user.public_id,
        action="account.updated",
        before={"password": "set"},
        after={"password": "set" if user.has_usable_password() else "removed"},
    )
    mail_after_new_password(user)


class EmailImmutable(InvalidFields):
    def __init__(self) -> None:
        super().__init__([FieldError("email", "immutable", "Cannot be changed.")])


class WrongPassword(InvalidFields):
    def __init__(self) -> None:
        super().__init__([FieldError("currentPassword", "wrong", "The current password is wrong.")])


class BrowserSession(Forbidden):
    """The tokens of a new password would be of the wrong kind: a browser gets no refresh token."""

    code = "browser_session"
    message = "This is the token of a browser's session. Change the password at /accounts/password/change/."


def change_profile(*, user: User, changes: Mapping[str, Any]) -> None:
    """``changes`` has attributes of the account. Raises InvalidFields for a different e-mail address."""
    if changes.get("email", user.email).lower() != user.email:
        raise EmailImmutable
    change_account(user=user, changes={name: value for name, value in changes.items() if name != "email"})


def change_password(
    *, user: User, session: int, current_password: str, new_password: str, address: str
) -> TokenPair:
    """Ends all sessions of the account except ``session``, and returns new tokens of that one.

    A wrong current password counts as a failed login. Raises PasswordLoginOff, BrowserSession, TooManyAttempts,
    InvalidFields, or SessionEnded if another request ended the session meanwhile.
    """
    if not settings.PASSWORD_LOGIN:
        raise PasswordLoginOff
    if Session.objects.filter(pk=session, browser_session__isnull=False).exists():
        raise BrowserSession
    check_new_password(new_password, user, field="newPassword")
    with login_attempt(email=user.email, address=address) as attempt:
        if not user.check_password(current_password):
            raise WrongPassword
        attempt.succeeded(known_for=LOGIN_KNOWN_FOR)
        changed = User(pk=user.pk, public_id=user.public_id)
        changed.set_password(new_password)
    with transaction.atomic():
        if not lock_password(user):
            raise WrongPassword
        changed.save(update_fields=["password"])
        record_new_password(changed)
        end(Session.objects.filter(user=user).exclude(pk=session), EndReason.PASSWORD)
        return issue_tokens(changed, _renew(session, changed))


def set_password(user: User, password: str, *, browser_session: str | None = None) -> None:
    """Ends all sessions of the account except that of the browser, `accounts.sessions.lifecycle`.

    The caller has checked the password, and that its sender may change it.
    """
    user.set_password(password)
    sessions = Session.objects.filter(user=user)
    with transaction.atomic():
        user.save(update_fields=["password"])
        record_new_password(user)
        if browser_session is not None:
            kept = sessions.filter(browser_session=browser_session, ended_at=None)
            kept.update(password_fingerprint=password_fingerprint(user))
            sessions = sessions.exclude(browser_session=browser_session)
        end(sessions, EndReason.PASSWORD)


def _renew(session: int, user: User) -> Session:
    """Makes the tokens of the session valid under the account's new password. Raises SessionEnded."""
    renewed = Session.objects.filter(pk=session, ended_at=None).update(
        generation=F("generation") + 1,
        issued_at=issue_time(),
        rotated_at=Now(),
        password_fingerprint=password_fingerprint(user),
    )
    if not renewed:
        raise SessionEnded
    return Session.objects.get(pk=session)
