"""Links with nothing special, to be clicked on."""

from __future__ import annotations

from django.db import connection

from accounts.models import User
from accounts.services import create_account

_EMAIL = "plain@example.com"


def plain_links(count: int) -> list[int]:
    """The numbers of as many links of one owner, made if they are not there yet."""
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
                SELECT gen_random_uuid(), %(owner)s, 'plain' || n, 'https://example.com/' || n,
                    'https://example.com/' || n, '{}', '{}', true, '{}', '{}', '{}', '{}', 302
                FROM generate_series((SELECT count(*) FROM links_link WHERE owner_id = %(owner)s) + 1, %(count)s) n
                RETURNING id, short_code
            ) INSERT INTO links_code (domain_id, code, kind, link_id) SELECT NULL, short_code, 'short', id FROM link
            """,
            {"owner": owner.pk, "count": count},
        )
        cursor.execute(
            "SELECT id FROM links_link WHERE owner_id = %s ORDER BY id LIMIT %s", [owner.pk, count]
        )
        return [link_id for (link_id,) in cursor.fetchall()]
