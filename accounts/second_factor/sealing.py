"""Sealed secrets of second factors. A copy of the database alone generates no code."""

from __future__ import annotations

from base64 import b64decode, b64encode

from django.conf import settings

from common import secrets

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
