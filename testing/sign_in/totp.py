"""An authenticator app: codes by RFC 6238, independent of the service's library."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP

from accounts.models import User

SECRET = base64.b32encode(b"12345678901234567890").decode()
STEP_SECONDS = 30


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    """A stopped clock: otherwise a code could expire between its computation and its use."""
    with time_machine.travel(datetime.now(UTC), tick=False) as traveller:
        yield traveller


def code(secret: str = SECRET, *, steps_later: int = 0) -> str:
    """The code of the current time step, or of a step relative to it."""
    step = int(time.time()) // STEP_SECONDS + steps_later
    digest = hmac.new(base64.b32decode(secret), step.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def wrong_code(secret: str = SECRET) -> str:
    """A code of no step that the service could accept."""
    valid = {code(secret, steps_later=later) for later in range(-3, 4)}
    return next(text for text in ("000000", "111111", *map(str, range(222222, 222232))) if text not in valid)


def add_totp(user: User, secret: str = SECRET) -> list[str]:
    """Gives the account an authenticator app. Returns its recovery codes."""
    TOTP.activate(user, secret)
    return RecoveryCodes.activate(user).generate_codes()


def add_passkey(user: User) -> None:
    """Gives the account the row of a passkey, which no authenticator has."""
    Authenticator.objects.create(
        user=user, type=Authenticator.Type.WEBAUTHN, data={"name": "Key", "credential": {}}
    )
