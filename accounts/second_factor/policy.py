"""Who has a second factor, and who needs one."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from accounts.history.recording import record_change
from accounts.models import User
from common.database import read_first

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
