"""Secrets of endpoints: those that sign messages, and the addresses of chats, which whoever knows them can write to.

They are sealed with the installation's secret and bound to the endpoint, so that a copy in another row does not open.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from standardwebhooks import Webhook as Signer

from common.secrets import seal as _seal
from common.secrets import unseal as _unseal

PREFIX = "whsec_"
_BYTES = 32
_SEALING = "webhook-sealing"


def new_secret() -> str:
    """256 random bits in the form of Standard Webhooks."""
    return PREFIX + base64.b64encode(os.urandom(_BYTES)).decode()


def seal(text: str, endpoint: UUID) -> bytes:
    return _seal(text.encode(), purpose=_SEALING, context=endpoint.bytes, secret=settings.SECRET_KEY)


def unseal(sealed: bytes, endpoint: UUID) -> str | None:
    """The text, or None if none of the installation's secrets, current or former, opens it."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    opened = _unseal(bytes(sealed), purpose=_SEALING, context=endpoint.bytes, secrets=keys)
    return None if opened is None else opened.decode()


def signed_headers(secrets: Iterable[str], message: UUID, at: datetime, body: str) -> dict[str, str]:
    """The headers of Standard Webhooks 1.0.0, with a signature for each of the secrets."""
    signatures = [Signer(secret).sign(str(message), at, body) for secret in secrets]
    return {
        "webhook-id": str(message),
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
