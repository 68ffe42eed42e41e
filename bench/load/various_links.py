"""Links whose visitors do not all get the same answer: lists of countries or devices, rules, and splits."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from django.db import connection

from bench.load.plain_links import plain_links, plain_owner

_URL = "https://www.example.com/campaigns/spring/"


class Variety(NamedTuple):
    """``prefix``: of the links' codes."""

    prefix: str
    allowed_countries: tuple[str, ...] = ()
    blocked_countries: tuple[str, ...] = ()
    allowed_devices: tuple[str, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    split: tuple[dict[str, Any], ...] = ()
    forwards_query: bool = False


def branch(number: int) -> dict[str, Any]:
    """The fields that rules and entries of a split have in common."""
    url = f"{_URL}branch/{number}"
    return {"_id": f"{number:032x}", "number": number, "name": f"Branch {number}", "url": url, "href": url}


# No address is in this country: every visitor may follow the first links, and none the others.
_NOWHERE = "ZZ"
ADMITTING_LISTS = Variety(
    "admitting", blocked_countries=(_NOWHERE,), allowed_devices=("desktop", "mobile", "tablet")
)
REFUSING_LISTS = Variety("refusing", allowed_countries=(_NOWHERE,))
DEVICE_RULES = Variety(
    "ruled",
    rules=(branch(1) | {"conditions": [{"type": "device", "values": ["mobile"], "not": False}]},),
)


def various_codes(count: int, variety: Variety) -> list[str]:
    """The codes of ``count`` links of the owner of `plain_links`; creates the missing ones."""
    plain_links(1)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH link AS (
                INSERT INTO links_link (
                    public_id, owner_id, short_code, original_url, destination, tags, tag_keys, is_active, utm,
                    allowed_countries, blocked_countries, allowed_devices, redirect_type, forward_query,
                    rules, split, other_destinations
                )
                SELECT gen_random_uuid(), %(owner)s, %(prefix)s || n, %(url)s || n, %(url)s || n, '{}', '{}', true,
                    '{}', %(allowed)s, %(blocked)s, %(devices)s, 302, %(forwards)s, %(rules)s, %(split)s, %(others)s
                FROM generate_series(1, %(count)s) n
                WHERE NOT EXISTS (SELECT FROM links_code WHERE domain_id IS NULL AND code = %(prefix)s || n)
                RETURNING id, short_code
            ) INSERT INTO links_code (domain_id, code, kind, link_id) SELECT NULL, short_code, 'short', id FROM link
            """,
            {
                "owner": plain_owner().pk,
                "count": count,
                "prefix": variety.prefix,
                "url": _URL,
                "allowed": list(variety.allowed_countries),
                "blocked": list(variety.blocked_countries),
                "forwards": variety.forwards_query,
                "devices": list(variety.allowed_devices),
                "rules": json.dumps(variety.rules),
                "split": json.dumps(variety.split),
                "others": [one["href"] for one in (*variety.rules, *variety.split)],
            },
        )
    return [f"{variety.prefix}{number}" for number in range(1, count + 1)]
