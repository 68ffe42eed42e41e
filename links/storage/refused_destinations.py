"""The checks of URLs that need the database, as SQL, so that they run in the statement or transaction of the write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from common.database import fetch
from common.errors import InvalidFields
from links.routing.addresses import Address, refused_addresses
from links.storage.columns import column_arrays


class _Check(NamedTuple):
    """``condition`` is SQL with the places ``destination`` and ``host``; if it is true, ``reason`` is the refusal."""

    reason: str
    condition: str


# After `refuse_own_addresses`, every URL to which a link can lead has to pass these checks.
_CHECKS = (
    _Check("loop", "EXISTS (SELECT FROM domains_domain d WHERE d.host = {host} AND d.status = 'active')"),
    _Check("banned", "bans_is_host_banned({destination})"),
)


def refusal_of(destination: str, host: str) -> str:
    """Return an SQL expression for the reason to refuse a URL; it is null for an allowed one.

    The arguments are SQL expressions, too.
    """
    checks = (
        f"WHEN {check.condition.format(destination=destination, host=host)} THEN '{check.reason}'"
        for check in _CHECKS
    )
    return f"CASE {' '.join(checks)} END"  # composed of constants


# The positions of the refused URLs, from 1, with the reasons.
_REFUSED = f"""
SELECT position, reason
FROM unnest(%(urls)s::text[], %(hosts)s::text[]) WITH ORDINALITY address (url, host, position),
LATERAL (SELECT {refusal_of("address.url", "address.host")}) refusal (reason)
WHERE reason IS NOT NULL
"""  # noqa: S608 # composed of constants


def refused_links(addresses: Mapping[int, Sequence[Address]]) -> dict[int, InvalidFields]:
    """The errors of the links with a refused URL, by their keys."""
    rows = [(address.destination.href, address.host) for group in addresses.values() for address in group]
    if not rows:
        return {}
    reasons: dict[int, str] = dict(fetch(_REFUSED, column_arrays("urls hosts", rows)))
    if not reasons:
        return {}
    refused = {}
    position = 0
    for key, group in addresses.items():
        of_link = [reasons.get(position + number) for number in range(1, len(group) + 1)]
        position += len(group)
        if any(of_link):
            refused[key] = refused_addresses(group, of_link)
    return refused
