"""How generated codes look: settings of a workspace, and of a domain, which come first."""

from __future__ import annotations

from typing import NamedTuple

from django.db import models

# Shorter codes would soon be used up on the service's own host, where all workspaces share them.
MIN_LENGTH, DEFAULT_LENGTH, MAX_LENGTH = 5, 7, 20


class CodeAlphabet(models.TextChoices):
    """``readable``: letters and digits without those that look alike: 0 and O, 1, l and I."""

    FULL = "full"
    READABLE = "readable"


class CodeStyle(NamedTuple):
    length: int = DEFAULT_LENGTH
    alphabet: str = CodeAlphabet.FULL.value


DEFAULT_STYLE = CodeStyle()
LENGTH_HELP = f"Characters of generated codes, {MIN_LENGTH} to {MAX_LENGTH}."
ALPHABET_HELP = "`readable`: generated codes without 0 and O, 1, l and I."
