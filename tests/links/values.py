"""A link with a value in every field that ``findIfExists`` compares, and other values."""

from __future__ import annotations

SPLIT = [{"name": name, "url": f"https://example.com/{name}", "weight": 30} for name in "ab"]
EVERYTHING = {
    "title": "Spring",
    "description": "For the team",
    "tags": ["Mail", "sale"],
    "expiresAt": "2031-01-01T00:00:00Z",
    "utm": {"source": "mail", "medium": "letter"},
    "restrictions": {"maxClicks": 5, "allowedCountries": ["DE", "FR"]},
    "redirectType": 301,
    "targetUrl": "https://example.com/target",
    "startsAt": "2030-01-01T00:00:00Z",
    "notStartedUrl": "https://example.com/soon",
    "rules": [
        {
            "name": "de",
            "url": "https://example.com/de",
            "conditions": [{"type": "country", "values": ["DE"], "not": False}],
        }
    ],
    "split": SPLIT,
    "preview": {"title": "Sale"},
    "externalId": "order-1",
    "isArchived": True,
    "customCode": "spring",
}
# A value that differs from that of EVERYTHING.
OTHERS = {
    "title": "spring",
    "description": None,
    "tags": ["mail"],
    "expiresAt": None,
    "utm": {"source": "mail"},
    "restrictions": {"maxClicks": 5},
    "redirectType": 302,
    "targetUrl": "https://example.com/",
    "startsAt": None,
    "notStartedUrl": None,
    "rules": [],
    "split": [SPLIT[0], {**SPLIT[1], "weight": 31}],
    "preview": None,
    "isArchived": False,
}
