"""Texts as outlines, so that an image looks the same without the font. font/FONTLOG.txt says where they are from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_GLYPHS = Path(__file__).parent / "font/glyphs.json"
_COMMAND = re.compile("([MLQZ])([^MLQZ]*)")
# Outlines are in thousandths of the size of the text.
EM = 1000
# The height of capitals, in ems.
CAPITAL = 0.668

# A command of a path of SVG, M, L, Q or Z, with its absolute coordinates.
Command = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text: its start on the baseline and its size in the units of the image."""

    text: str
    x: float
    baseline: float
    size: float


@cache
def _glyphs() -> dict[str, tuple[int, str]]:
    """The width and the path of each character."""
    glyphs: dict[str, tuple[int, str]] = json.loads(_GLYPHS.read_bytes())
    return glyphs


def undrawable(text: str) -> str:
    """The first character without an outline, such as a control character or an emoji; "" if there is none."""
    return next((character for character in text if character not in _glyphs()), "")


def width(text: str) -> float:
    """The width of a text in ems."""
    return sum(_glyphs()[character][0] for character in text) / EM


def outlines(text: str) -> Iterator[list[Command]]:
    """The outline of each character, y down from the baseline, in thousandths of an em."""
    x = 0
    for character in text:
        advance, path = _glyphs()[character]
        yield [(name, _shifted(numbers, x)) for name, numbers in _COMMAND.findall(path)]
        x += advance


def _shifted(numbers: str, x: int) -> tuple[int, ...]:
    return tuple(int(number) + (0 if at % 2 else x) for at, number in enumerate(numbers.split()))


def fitted(text: str, *, within: float, most: float) -> float:
    """The size at which the text is at most ``within`` wide, and at most ``most``."""
    return min(most, within / max(width(text), 1 / EM))


def shortened(text: str, *, within: float, size: float) -> str:
    """The text, or as much of it with "…" as is at most ``within`` wide at this size."""
    if width(text) * size <= within:
        return text
    while text and width(f"{text}…") * size > within:
        text = text[:-1]
    return f"{text.rstrip()}…"
