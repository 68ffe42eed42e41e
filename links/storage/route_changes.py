"""Changes of where existing links lead. The caller has locked the links in its transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from common.errors import InvalidFields
from links.models import Link
from links.routing.addresses import new_addresses_of, refuse_own_addresses, restored_destination
from links.routing.branches import NUMBERS
from links.routing.columns import columns_of, has_new_branches
from links.selectors import fetch
from links.storage.refused_destinations import refused_links

# The last period of each number, from the index: links that change often have thousands of periods.
_FREED_NUMBERS = """
SELECT link.link_id, number, until
FROM unnest(%(links)s::bigint[]) link (link_id), unnest(%(numbers)s::smallint[]) numbers (number), LATERAL (
    SELECT until FROM links_route r WHERE r.link_id = link.link_id AND r.number = numbers.number
    ORDER BY since DESC LIMIT 1
) latest WHERE until IS NOT NULL
"""


class RouteChange(NamedTuple):
    """``sent`` has the validated fields of the update."""

    link: Link
    sent: Mapping[str, Any]


Columns = dict[str, Any]


def changed_columns(link: Link, sent: Mapping[str, Any]) -> Columns:
    """The columns that the fields set, with their values. Raises InvalidFields."""
    [columns] = changed_columns_of_each({0: RouteChange(link, sent)}).values()
    if isinstance(columns, InvalidFields):
        raise columns
    return columns


def changed_columns_of_each(changes: Mapping[int, RouteChange]) -> dict[int, Columns | InvalidFields]:
    """The changed columns of each link, or its error. At most two queries, and none if no URL is new."""
    restored = {key: restored_destination(*change) for key, change in changes.items()}
    addresses = {key: new_addresses_of(*change, restored[key]) for key, change in changes.items()}
    refused: dict[int, InvalidFields] = {}
    for key, group in addresses.items():
        try:
            refuse_own_addresses(group)
        except InvalidFields as refusal:
            refused[key] = refusal
    refused |= refused_links({key: group for key, group in addresses.items() if key not in refused})
    freed = _freed_numbers([
        change.link.pk
        for key, change in changes.items()
        if key not in refused and has_new_branches(change.link, change.sent)
    ])  # fmt: skip
    results: dict[int, Columns | InvalidFields] = {**refused}
    for key, (link, sent) in changes.items():
        if key not in refused:
            try:
                results[key] = columns_of(link, sent, freed[link.pk], restored[key])
            except InvalidFields as refusal:
                results[key] = refusal
    return results


def _freed_numbers(link_ids: Collection[int]) -> dict[int, dict[int, datetime]]:
    """For each link, the last moment at which each of its former numbers became free."""
    freed: dict[int, dict[int, datetime]] = defaultdict(dict)
    if link_ids:
        for link_id, number, until in fetch(
            _FREED_NUMBERS, {"links": list(link_ids), "numbers": list(NUMBERS)}
        ):
            freed[link_id][number] = until
    return freed
