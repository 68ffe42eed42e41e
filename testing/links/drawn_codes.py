"""Chooses the codes that the service generates, by choosing its random bytes."""

from __future__ import annotations

import pytest

from links.codes import CODE_ALPHABET


def bytes_of(code: str) -> bytes:
    return bytes(CODE_ALPHABET.index(character) for character in code)


def feed(monkeypatch: pytest.MonkeyPatch, *draws: bytes) -> None:
    source = iter(draws)
    monkeypatch.setattr("links.codes.urandom", lambda _size: next(source))


def draw_codes(monkeypatch: pytest.MonkeyPatch, *codes: str) -> None:
    """Generate these codes, each at most once, and then fail."""
    feed(monkeypatch, *map(bytes_of, codes))
