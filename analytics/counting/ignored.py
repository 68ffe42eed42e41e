"""Leaves out the clicks from networks that the links' workspaces ignore, such as the one of their own office.

The drainer decides, so that the redirect takes no longer. A browser that asked to be ignored says so in its requests:
such visits have their kind already.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address, ip_network

from django.db import connection

from analytics.journal.records import Fields
from analytics.models import Kind
from common.database import integer_array, prepared_cursor

_NETWORKS = "SELECT id, ignored_networks FROM accounts_workspace WHERE ignored_networks <> '{}'"
_OWNERS = "SELECT link_id, owner_id FROM links_clickcounter WHERE link_id = ANY(%s::bigint[])"

# The workspaces that ignore a network, by the version and the prefix of its addresses.
_Prefix = tuple[int, int]
_Table = dict[_Prefix, dict[int, set[int]]]


def without_ignored(records: list[Fields]) -> list[Fields]:
    """The records, with another kind for clicks from ignored networks."""
    with prepared_cursor() as cursor:
        cursor.execute(_NETWORKS)
        rows = cursor.fetchall()
    if not rows:
        return records
    table = _table(rows)
    owners = {address: _owners(table, address) for address in {record.address for record in records}}
    click = int(Kind.CLICK)
    candidates = [
        place for place, record in enumerate(records) if record.kind == click and owners[record.address]
    ]
    if not candidates:
        return records
    with connection.cursor() as cursor:
        cursor.execute(_OWNERS, [integer_array({records[place].subject for place in candidates})])
        owner_of = dict(cursor.fetchall())
    counted = list(records)
    for place in candidates:
        record = records[place]
        if owner_of.get(record.subject) in owners[record.address]:
            counted[place] = record._replace(kind=int(Kind.IGNORED))
    return counted


def _table(rows: Iterable[tuple[int, list[str]]]) -> _Table:
    table: _Table = {}
    for owner, networks in rows:
        for text in networks:
            network = ip_network(text)
            shift = network.max_prefixlen - network.prefixlen
            prefixes = table.setdefault((network.version, shift), {})
            prefixes.setdefault(int(network.network_address) >> shift, set()).add(owner)
    return table


def _owners(table: _Table, content: bytes) -> set[int]:
    """The workspaces that ignore this address of the journal."""
    try:
        address = ip_address(content.decode().partition("%")[0])
    except ValueError:
        # Of a proxy that does not name its client.
        return set()
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    number, owners = int(address), set[int]()
    for (version, shift), prefixes in table.items():
        if version == address.version:
            owners |= prefixes.get(number >> shift, set())
    return owners
