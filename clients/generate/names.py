"""How both languages spell names, and how they wrap texts."""

from __future__ import annotations

import re
import textwrap

WIDTH = 110


def snake(name: str) -> str:
    """``createQrCode`` becomes ``create_qr_code``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace(" ", "_")


def camel(words: str) -> str:
    """``if match`` becomes ``ifMatch``."""
    first, *rest = re.split(r"[ _]", words)
    return first + "".join(word.capitalize() for word in rest)


def pascal(words: str) -> str:
    """``code_taken`` becomes ``CodeTaken``."""
    return "".join(word.capitalize() for word in re.split(r"[ _]", words))


def wrapped(text: str, indent: str, width: int = WIDTH) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )  # fmt: skip
