"""Codes of an authenticator app (TOTP, RFC 6238) and recovery codes. Each works once, on any worker and host."""

from __future__ import annotations

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.db import transaction

from accounts.mails import notify
from accounts.models import User
from accounts.second_factor.policy import has_second_factor, lacks_second_factor
from accounts.second_factor.sealing import UnreadableSecret, reseal_text, unseal_text
from common.errors import Forbidden, ServiceError
from limits.attempts import Limit, spend_attempt, uncount_attempts

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
    """After a right code or a new password."""
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
        ending = (
            ""
            if failures < FAILURES_IN_A_ROW
            else (
                " Codes of the authenticator app are refused until you use a recovery code or choose a new password."
            )
        )
        notify(
            user,
            "Wrong codes",
            f"Somebody who knows your password entered {failures} wrong codes of your second factor in a row.{ending}",
        )


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
