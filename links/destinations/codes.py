"""The addresses at which links can be followed."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from links.destinations.batch_lookup import Key

_CODES = """
SELECT coalesce(d.host, %(own_host)s), c.code
FROM unnest(%(links)s::bigint[]) WITH ORDINALITY wanted (link_id, place)
JOIN links_code c ON c.link_id = wanted.link_id AND c.kind <> 'reserved'
LEFT JOIN domains_domain d ON d.id = c.domain_id
ORDER BY place, c.id
"""


def codes_of(links: Sequence[int]) -> list[Key]:
    """Return host and code of every address of these links, in the order of ``links`` (ids)."""
    with connection.cursor() as cursor:
        cursor.execute(_CODES, {"links": list(links), "own_host": settings.BASE_HOST})
        return [(host, code) for host, code in cursor.fetchall()]
