"""The bodies of links that benchmarks create."""

from __future__ import annotations

from typing import Any


def link_body(number: int) -> dict[str, Any]:
    return {
        "originalUrl": f"https://www.example.com/spring/sale/{number}?utm_source=newsletter",
        "title": f"Spring sale {number}",
        "tags": ["spring", "Newsletter"],
    }
