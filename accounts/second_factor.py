"""The second factor of a login: who needs one, its codes and sealed secrets, and what allauth lacks for passkeys."""

from __future__ import annotations

import logging
from base64 import b64decode, b64encode

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy

from accounts.caps import lock_account
from accounts.history import record_change
from accounts.mails import notify
from accounts.models import PasskeyHandle, User
from common import secrets
from common.database import read_first
from common.errors import Forbidden, ServiceError
from limits.attempts import Limit, spend_attempt, uncount_attempts

_PURPOSE = "second-factor-sealing"


class UnreadableSecret(Exception):
    """None of the installation's secrets, current or former, opens the sealed text."""


def seal_text(text: str) -> str:
    sealed = secrets.seal(text.encode(), purpose=_PURPOSE, context=b"", secret=settings.SECRET_KEY)
    return b64encode(sealed).decode()


def unseal_text(sealed: str) -> str:
    """Raises UnreadableSecret. An empty secret instead would accept codes that anybody can compute."""
    text = _open(sealed, [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])
    if text is None:
        raise UnreadableSecret
    return text


def reseal_text(sealed: str) -> str:
    """The text sealed with the current secret, the same object if it already is. Raises UnreadableSecret."""
    if _open(sealed, [settings.SECRET_KEY]) is not None:
        return sealed
    return seal_text(unseal_text(sealed))


def _open(sealed: str, keys: list[str]) -> str | None:
    opened = secrets.unseal(b64decode(sealed), purpose=_PURPOSE, context=b"", secrets=keys)
    return None if opened is None else opened.decode()


_NAMES = {
    Authenticator.Type.TOTP: "authenticatorApp",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recoveryCodes",
}
_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def has_second_factor(user: User) -> bool:
    """Recovery codes alone do not count: they replace a lost factor."""
    return bool(read_first(Authenticator.objects.filter(user_id=user.pk, type__in=_FACTORS).exists))


def count_second_factors(user: User) -> int:
    return int(Authenticator.objects.filter(user_id=user.pk, type__in=_FACTORS).count())


def needs_second_factor(user: User) -> bool:
    """Whether REQUIRE_2FA demands a second factor of this account."""
    return bool(settings.REQUIRE_2FA == "all" or (settings.REQUIRE_2FA == "staff" and user.is_staff))


def lacks_second_factor(user: User) -> bool:
    """Whether the account needs a second factor, and has none."""
    return needs_second_factor(user) and not has_second_factor(user)


def remove_second_factors(user: User) -> int:
    """Remove all second factors and the recovery codes, for an owner who has lost them. Return their number."""
    with transaction.atomic():
        factors = Authenticator.objects.select_for_update().filter(user_id=user.pk).order_by("pk")
        for factor in factors:
            record_second_factor(user, factor.type, is_set=False)
        removed, _ = factors.delete()
    return int(removed)


def record_second_factor(user: User, kind: str, *, is_set: bool) -> None:
    """Record that a factor was set or removed, in the caller's transaction. ``kind`` is one of Authenticator.Type."""
    name = _NAMES[Authenticator.Type(kind)]
    record_change(
        owner_id=user.pk,
        object_id=user.public_id,
        action="account.updated",
        before={} if is_set else {name: "set"},
        after={name: "set" if is_set else "removed"},
    )


FAILURES_ALLOWED = Limit(attempts=5, seconds=15 * 60)
# In a row, over any time. Whoever knows the password could otherwise go on until a code fits (NIST SP 800-63B).
FAILURES_IN_A_ROW = 100
MAX_CHARACTERS = 32
_STEP = "last_step"
_FAILURES = "failures"
_SEALED = {Authenticator.Type.TOTP: "secret", Authenticator.Type.RECOVERY_CODES: "seed"}


class OtpRequired(ServiceError):
    status = 401
    code = "otp_required"
    message = "This account has a second factor. Repeat the request with a code as otp."


class WrongOtp(ServiceError):
    status = 401
    code = "otp_wrong"
    message = "The code is wrong or was already used."


class UnreadableSecondFactor(WrongOtp):
    """SECRET_KEY was replaced, and its former value removed, before the account used its second factor again."""

    code = "second_factor_unreadable"
    message = (
        "The code is wrong, or the service can no longer read the secret behind it. Try a code of another kind, or"
        " ask an operator to remove your second factors."
    )


class SecondFactorLocked(WrongOtp):
    code = "otp_locked"
    message = (
        "Too many wrong codes were entered, so codes of the authenticator app are refused. Use a recovery code, or"
        " choose a new password."
    )


class SecondFactorRequired(Forbidden):
    code = "second_factor_required"
    message = "This service requires a second factor. Sign in under /accounts/ and set one up first."


def check_second_factor(user: User, code: str | None) -> None:
    """Call it only once the password is known to be right.

    Raises OtpRequired without a code, WrongOtp, TooManyAttempts, or SecondFactorRequired if the account has to set
    up a factor first.
    """
    if has_second_factor(user):
        if not code:
            raise OtpRequired
        use_code(user, code)
    elif lacks_second_factor(user):
        raise SecondFactorRequired


def use_code(user: User, code: str) -> Authenticator:
    """Use up a code. Returns its authenticator. Also reseals the account's secrets with the current SECRET_KEY.

    Raises WrongOtp, UnreadableSecondFactor if it cannot tell, or TooManyAttempts after too many wrong codes. After
    FAILURES_IN_A_ROW, raises SecondFactorLocked for all codes but recovery codes.
    """
    subject = f"second factor {user.public_id}"
    spend_attempt(subject, FAILURES_ALLOWED)
    with transaction.atomic():
        # The lock lets one of several concurrent uses of a code through.
        authenticators = list(
            Authenticator.objects.select_for_update().filter(user_id=user.pk).order_by("pk")
        )
        is_locked = any(_failures(authenticator) >= FAILURES_IN_A_ROW for authenticator in authenticators)
        readable = [authenticator for authenticator in authenticators if _reseal(authenticator)]
        usable = [one for one in readable if not (is_locked and one.type == Authenticator.Type.TOTP)]
        used = next((authenticator for authenticator in usable if accepts(authenticator, code)), None)
        if used is None:
            _count_failure(user, authenticators)
        else:
            clear_failures(user)
    if used is None:
        if is_locked:
            raise SecondFactorLocked
        raise WrongOtp if len(readable) == len(authenticators) else UnreadableSecondFactor
    uncount_attempts([subject])
    return used


def clear_failures(user: User) -> None:
    """Forget the wrong codes of an account, after a right code or a new password."""
    for authenticator in Authenticator.objects.select_for_update().filter(user_id=user.pk).order_by("pk"):
        if authenticator.data.pop(_FAILURES, None) is not None:
            authenticator.save(update_fields=["data"])


def _failures(authenticator: Authenticator) -> int:
    return int(authenticator.data.get(_FAILURES, 0))


def _count_failure(user: User, authenticators: list[Authenticator]) -> None:
    """Count a wrong code with the secret that it was a guess at, so that a new secret begins anew.

    The owner gets a mail about the first codes and about the last.
    """
    kinds = (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)
    guessed = next((one for kind in kinds for one in authenticators if one.type == kind), None)
    if guessed is None or (failures := _failures(guessed) + 1) > FAILURES_IN_A_ROW:
        return
    guessed.data[_FAILURES] = failures
    guessed.save(update_fields=["data"])
    if failures in (FAILURES_ALLOWED.attempts, FAILURES_IN_A_ROW):
        wrong = gettext_lazy(
            "Somebody who knows your password entered {failures} wrong codes of your second factor in a row."
        )
        locked = gettext_lazy(
            "Codes of the authenticator app are refused until you use a recovery code or choose a new password."
        )
        texts = (wrong, locked) if failures == FAILURES_IN_A_ROW else (wrong,)
        notify(user, gettext_lazy("Wrong codes"), *texts, failures=failures)


def _reseal(authenticator: Authenticator) -> bool:
    """Seal the secret with the current SECRET_KEY. Returns whether it can be read. Call it with the row locked."""
    name = _SEALED.get(authenticator.type)
    if name is None:
        return True
    sealed = authenticator.data[name]
    try:
        authenticator.data[name] = reseal_text(sealed)
    except UnreadableSecret:
        return False
    if authenticator.data[name] != sealed:
        authenticator.save(update_fields=["data"])
    return True


def accepts(authenticator: Authenticator, code: str) -> bool:
    """Whether the code is valid. If so, uses it up. Call it with the row locked."""
    if authenticator.type == Authenticator.Type.TOTP:
        return _accepts_step(authenticator, code)
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        return bool(RecoveryCodes(authenticator).validate_code(code))
    return False


def _accepts_step(authenticator: Authenticator, code: str) -> bool:
    """Reject a time step that was used, and every earlier one (RFC 6238, 5.2)."""
    secret = unseal_text(authenticator.data["secret"])
    last: int = authenticator.data.get(_STEP, -1)
    for step in yield_hotp_counters_from_time():
        expected = format_hotp_value(hotp_value(secret, step))
        if step > last and compare_user_code(actual=code, expected=expected):
            authenticator.data[_STEP] = step
            authenticator.save(update_fields=["data"])
            return True
    return False


_COUNT = "signatures"

log = logging.getLogger(__name__)


def handle_of(user: User) -> bytes:
    """The user handle for new passkeys of the account: random, because authenticators show it without consent."""
    return bytes(PasskeyHandle.objects.get_or_create(user=user)[0].handle)


def user_of_handle(handle: bytes) -> User | None:
    """Passkeys from before such handles were stored have the number of the account as a text."""
    stored = PasskeyHandle.objects.select_related("user").filter(handle=handle).first()
    if stored is not None:
        return stored.user
    return User.objects.filter(pk=int(handle)).first() if handle.isdigit() and len(handle) < 19 else None


def count_signature(authenticator: Authenticator, counter: int) -> bool:
    """Store the counter of a signature that was verified. Return False, and tell the owner, if it shows a copy.

    An authenticator that counts sends more each time, so that of two copies one falls behind (WebAuthn 3, 6.1.1).
    Others always send 0.
    """
    with transaction.atomic():
        # As every change of second factors does, so that each of concurrent signatures is compared with the last.
        lock_account(authenticator.user_id)
        stored = Authenticator.objects.filter(pk=authenticator.pk).first()
        if stored is None:
            return False
        last: int = stored.data.get(_COUNT, stored.wrap().authenticator_data.counter)
        if counter > last:
            stored.data[_COUNT] = counter
            stored.save(update_fields=["data"])
        elif counter or last:
            _report_copy(stored)
            return False
    return True


def _report_copy(authenticator: Authenticator) -> None:
    user: User = authenticator.user
    log.warning(
        "The counter of a passkey went back, so a copy of it may exist. It was refused.",
        extra={"fields": {"account": str(user.public_id)}},
    )
    notify(
        user,
        gettext_lazy("Passkey refused"),
        gettext_lazy(
            "A passkey of your account was refused, because its counter shows that a copy of it may exist. Remove it"
            " from your account, and add it again if you still trust the device."
        ),
    )
