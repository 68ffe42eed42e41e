"""The stored form of a subject."""

from __future__ import annotations

from django.conf import settings
from django.utils.crypto import salted_hmac


def digest_subject(subject: str) -> bytes:
    """Return a keyed digest, so that the tables contain no e-mail or network address."""
    return salted_hmac("limits.attempts", subject, secret=settings.SECRET_KEY, algorithm="sha256").digest()
