"""What allauth does not keep of passkeys: a user handle that reveals nothing, and the counter of signatures."""

from __future__ import annotations

import logging

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.caps import lock_account
from accounts.mails import notify
from accounts.models import PasskeyHandle, User

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
        "Passkey refused",
        "A passkey of your account was refused, because its counter shows that a copy of it may exist. Remove it"
        " from your account, and add it again if you still trust the device.",
    )
