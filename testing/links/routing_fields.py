"""Every field that decides where a link leads, with a valid value as the API returns it."""

from __future__ import annotations

from typing import Any

RULES = [
    {
        "name": "Germany",
        "url": "https://example.com/de",
        "conditions": [
            {"type": "country", "values": ["DE", "AT"], "not": False},
            {"type": "device", "values": ["mobile"], "not": True},
        ],
    },
    {
        "name": "",
        "url": "https://example.com/else",
        "conditions": [{"type": "scanned", "values": [], "not": False}],
    },
]
SPLIT = [
    {"name": "A", "url": "https://a.example.com/", "weight": 70},
    {"name": "B", "url": "https://b.example.com/", "weight": 20},
]
DEFAULTS: dict[str, Any] = {
    "targetUrl": None,
    "startsAt": None,
    "notStartedUrl": None,
    "expiredUrl": None,
    "fallbackUrl": None,
    "healthCheck": None,
    "forwardQuery": False,
    "referrerPolicy": None,
    "rules": [],
    "split": [],
    "preview": None,
}
EVERYTHING: dict[str, Any] = {
    "targetUrl": "https://example.com/moved",
    "startsAt": "2030-01-01T00:00:00Z",
    "notStartedUrl": "https://example.com/soon",
    "expiredUrl": "https://example.com/over",
    "fallbackUrl": "https://example.com/fallback",
    "healthCheck": "weekly",
    "forwardQuery": True,
    "referrerPolicy": "no-referrer",
    "rules": RULES,
    "split": SPLIT,
    "preview": {"title": "Sale", "description": "Shoes, 20 %", "imageUrl": "https://example.com/card.png"},
}


def routing(url: dict[str, Any]) -> dict[str, Any]:
    """The fields of this module, without the ids of rules and entries of the split."""
    return {
        name: [without_id(entry) for entry in url[name]] if name in ("rules", "split") else url[name]
        for name in DEFAULTS
        if name in url
    }


def without_id(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "_id"}
