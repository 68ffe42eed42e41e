"""Every recorded field of a link: former values and changed ones."""

from __future__ import annotations

from typing import Any

from testing.links.routing_fields import EVERYTHING

FORMER: dict[str, Any] = {
    "customCode": "spring",
    "title": "Title",
    "description": "Description",
    "tags": ["One", "two"],
    "isActive": True,
    "expiresAt": "2030-12-31T23:59:59.123456Z",
    "utm": {"source": "s", "medium": "m"},
    "restrictions": {"maxClicks": 9, "allowedCountries": ["DE", "AT"], "allowedDevices": ["mobile"]},
    "redirectType": 301,
    **EVERYTHING,
    "externalId": "order 1",
    "isArchived": False,
}
CHANGED: dict[str, Any] = {
    "customCode": "summer",
    "title": None,
    "description": "Other",
    "tags": [],
    "isActive": False,
    "expiresAt": "2031-01-01T00:00:00Z",
    "utm": {},
    "restrictions": {"maxClicksPerVisitor": 2, "blockedCountries": ["FR"]},
    "redirectType": 302,
    "targetUrl": None,
    "startsAt": "2030-02-01T10:30:00.5Z",
    "notStartedUrl": None,
    "expiredUrl": "https://example.com/ended",
    "fallbackUrl": None,
    "healthCheck": "off",
    "forwardQuery": False,
    "referrerPolicy": None,
    "rules": [],
    "split": [],
    "preview": None,
    "externalId": "order 2",
    "isArchived": True,
}
