"""Plain links without any restrictions, for clicks."""

from __future__ import annotations

from django.db import connection

from accounts.models import User
from accounts.services import create_account
from links.models import Link

_EMAIL = "plain@example.com"
_URL = "https://www.example.com/campaigns/spring/articles/"


def plain_links(count: int) -> list[int]:
    """The ids of ``count`` links of one owner; creates the missing ones."""
    owner = (
        User.objects.filter(email=_EMAIL).first()
        or create_account(email=_EMAIL, password="not used here").user
    )
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH link AS (
                INSERT INTO links_link (
                    public_id, owner_id, short_code, original_url, destination, tags, tag_keys, is_active, utm,
                    allowed_countries, blocked_countries, allowed_devices, redirect_type
                )
                SELECT gen_random_uuid(), %(owner)s, 'plain' || n, %(url)s || n, %(url)s || n, '{}', '{}', true, '{}',
                    '{}', '{}', '{}', 302
                FROM generate_series((SELECT count(*) FROM links_link WHERE owner_id = %(owner)s) + 1, %(count)s) n
                RETURNING id, short_code
            ) INSERT INTO links_code (domain_id, code, kind, link_id) SELECT NULL, short_code, 'short', id FROM link
            """,
            {"owner": owner.pk, "count": count, "url": _URL},
        )
        cursor.execute(
            "SELECT id FROM links_link WHERE owner_id = %s ORDER BY id LIMIT %s", [owner.pk, count]
        )
        return [link_id for (link_id,) in cursor.fetchall()]


def plain_destinations(count: int) -> dict[str, str]:
    """Destinations by code."""
    ids = plain_links(count)
    links = Link.objects.filter(owner__account__email=_EMAIL, id__lte=ids[-1])
    return dict(links.values_list("short_code", "destination"))


def plain_owner() -> User:
    return User.objects.get(email=_EMAIL)
