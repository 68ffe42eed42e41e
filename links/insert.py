"""A link and its codes in one statement, so that creating is one round trip and one commit."""

from __future__ import annotations

from typing import Any

import orjson
from django.db import IntegrityError, connection

from links.models import Link
from links.namespace import codes_of_new_link

_INSERT = """
WITH refusal (code) AS (
    SELECT CASE
        WHEN EXISTS (SELECT FROM domains_domain WHERE host = %(destination_host)s AND status = 'active') THEN 'loop'
        WHEN links_is_host_banned(%(destination)s) THEN 'banned'
    END
), link AS (
    INSERT INTO links_link (
        public_id, owner_id, domain_id, short_code, custom_code, original_url, destination, title, description,
        tags, tag_keys, is_active, expires_at, password, utm, max_clicks,
        allowed_countries, blocked_countries, allowed_devices, redirect_type
    )
    SELECT
        %(public_id)s, %(owner)s, %(domain)s::bigint, %(short_code)s, %(custom_code)s, %(original_url)s,
        %(destination)s, %(title)s, %(description)s, %(tags)s::text[], %(tag_keys)s::text[], true,
        %(expires_at)s::timestamptz, %(password)s, %(utm)s::jsonb, %(max_clicks)s::integer,
        %(allowed_countries)s::text[], %(blocked_countries)s::text[], %(allowed_devices)s::text[], %(redirect_type)s
    FROM refusal WHERE code IS NULL
    RETURNING id, created_at, updated_at
), codes AS (
    INSERT INTO links_code (domain_id, code, kind, link_id)
    SELECT taken.domain_id, taken.code, taken.kind, link.id
    FROM link, unnest(%(code_domains)s::bigint[], %(codes)s::text[], %(kinds)s::text[]) taken (domain_id, code, kind)
)
SELECT code, id, created_at, updated_at FROM refusal LEFT JOIN link ON true
"""


def insert_link(link: Link, destination_host: str) -> str | None:
    """Inserts a link whose fields are set and completes it with what the database decides.

    Gives, having written nothing, why its destination is refused: ``loop`` when its host is an active domain of this
    service, ``banned`` when an operator has banned it. Raises IntegrityError when a code is taken.
    """
    codes = codes_of_new_link(link.domain_id, link.short_code, link.custom_code)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            {
                "public_id": link.public_id,
                "owner": link.owner_id,
                "domain": link.domain_id,
                "short_code": link.short_code,
                "custom_code": link.custom_code,
                "original_url": link.original_url,
                "destination": link.destination,
                "title": link.title,
                "description": link.description,
                "tags": link.tags,
                "tag_keys": link.tag_keys,
                "expires_at": link.expires_at,
                "password": link.password,
                "utm": orjson.dumps(link.utm).decode(),
                "max_clicks": link.max_clicks,
                "allowed_countries": link.allowed_countries,
                "blocked_countries": link.blocked_countries,
                "allowed_devices": link.allowed_devices,
                "redirect_type": link.redirect_type,
                "destination_host": destination_host,
                "code_domains": [taken.domain_id for taken in codes],
                "codes": [taken.code for taken in codes],
                "kinds": [str(taken.kind) for taken in codes],
            },
        )
        refused: str | None
        refused, link.pk, link.created_at, link.updated_at = cursor.fetchone()
    return refused


def is_domain_gone(error: IntegrityError) -> bool:
    """Whether the domain was deleted after it had been found."""
    diagnostics: Any = getattr(error.__cause__, "diag", None)
    return (getattr(diagnostics, "constraint_name", None) or "").endswith("_fk_domains_domain_id")
