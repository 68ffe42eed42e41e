"""Warnings about ignored fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/page"
STRICT = {"prefer": "handling=strict"}
