"""Inserts a link and its codes in one statement, so that a creation is one round trip and one commit.

Trades clarity for speed: the statement also checks the URLs, and most links take a shorter variant of it.
bench/results.md, "Links", has the resulting rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError

from common.database import prepared_cursor
from common.errors import InvalidFields
from links.codes.namespace import codes_of_new_link
from links.models import Link
from links.routing.addresses import Address, refused_addresses
from links.storage.code_claims import INSERT_CODES_OF_LINK
from links.storage.columns import ALL, PLAIN, InsertedColumns, is_plain
from links.storage.refused_destinations import refusal_of
from links.storage.row_arrays import array_text


def _statement(columns: InsertedColumns, refusal: str) -> str:
    """``refusal`` is a query for the reasons in the order of the URLs; null if none is refused."""
    values = ", ".join(f"%({column.name})s::{column.sql_type}" for column in columns.columns)
    return f"""
    WITH refusal (reasons) AS ({refusal}), link AS (
        INSERT INTO links_link ({columns.names})
        SELECT {values} FROM refusal WHERE reasons IS NULL
        RETURNING id, created_at, updated_at
    ), codes AS ({INSERT_CODES_OF_LINK})
    SELECT reasons, id, created_at, updated_at FROM refusal LEFT JOIN link ON true
    """  # noqa: S608 # composed of constants


# Most links have one URL. A shorter statement takes less time to parse and plan.
_INSERT_PLAIN = _statement(
    PLAIN, f"SELECT nullif(ARRAY[{refusal_of('%(url)s', '%(host)s')}], ARRAY[NULL]::text[])"
)
_INSERT = _statement(
    ALL,
    f"""
    SELECT CASE WHEN count(reason) > 0 THEN array_agg(reason ORDER BY position) END
    FROM unnest(%(urls)s::text[], %(hosts)s::text[]) WITH ORDINALITY address (url, host, position),
    LATERAL (SELECT {refusal_of("address.url", "address.host")}) refusal (reason)
    """,  # noqa: S608 # composed of constants
)


def insert_link(link: Link, addresses: Sequence[Address]) -> InvalidFields | None:
    """Insert a link and complete it with the values that the database sets. ``addresses`` are all URLs of the link.

    If one of them is refused, write nothing and return the error. Raises IntegrityError if a code is taken.
    """
    claims = codes_of_new_link(link.domain_id, link.short_code, link.custom_code)
    urls, hosts = [address.destination.href for address in addresses], [address.host for address in addresses]
    statement, columns = (_INSERT_PLAIN, PLAIN) if is_plain(link) else (_INSERT, ALL)
    with prepared_cursor() as cursor:
        cursor.execute(
            statement,
            {
                **columns.named_values(link),
                **(
                    {"url": urls[0], "host": hosts[0]} if columns is PLAIN else {"urls": urls, "hosts": hosts}
                ),
                "code_domains": array_text(
                    None if claim.domain_id is None else str(claim.domain_id) for claim in claims
                ),
                "codes": array_text(claim.code for claim in claims),
                "kinds": array_text(claim.kind for claim in claims),
            },
        )
        reasons, link.pk, link.created_at, link.updated_at = cursor.fetchone()
    return None if reasons is None else refused_addresses(addresses, reasons)


def is_domain_conflict(error: IntegrityError) -> bool:
    """Whether the insert failed because the domain was deleted after the caller had read it."""
    diagnostics: Any = getattr(error.__cause__, "diag", None)
    return (getattr(diagnostics, "constraint_name", None) or "").endswith("_fk_domains_domain_id")
