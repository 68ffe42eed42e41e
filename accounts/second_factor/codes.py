"""Codes of an authenticator app (TOTP, RFC 6238) and recovery codes. Each works once, on any worker and host."""

from __future__ import annotations

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.db import transaction

from accounts.models import User
from accounts.second_factor.policy import has_second_factor, lacks_second_factor
from accounts.second_factor.sealing import UnreadableSecret, reseal_text, unseal_text
from common.errors import Forbidden, ServiceError
from limits.attempts import Limit, spend_attempt, uncount_attempts

FAILURES_ALLOWED = Limit(attempts=5, seconds=15 * 60)
MAX_CHARACTERS = 32
_STEP = "last_step"
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

    Raises WrongOtp, UnreadableSecondFactor if it cannot tell, or TooManyAttempts after too many wrong codes.
    """
    subject = f"second factor {user.public_id}"
    spend_attempt(subject, FAILURES_ALLOWED)
    with transaction.atomic():
        # The lock lets one of several concurrent uses of a code through.
        authenticators = Authenticator.objects.select_for_update().filter(user_id=user.pk).order_by("pk")
        readable = [authenticator for authenticator in authenticators if _reseal(authenticator)]
        used = next((authenticator for authenticator in readable if accepts(authenticator, code)), None)
    if used is None:
        raise WrongOtp if len(readable) == len(authenticators) else UnreadableSecondFactor
    uncount_attempts([subject])
    return used


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
