"""Many links and their codes, set by set: the statements do not grow in number with the links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection

from common.errors import ServiceError
from links import rules
from links.columns import columns
from links.copying import copy_links
from links.drafts import Draft
from links.namespace import Place, Taken, free_lapsed_holds, taken
from links.selectors import fetch

_IDENTIFIERS = """
SELECT nextval(pg_get_serial_sequence('links_link', 'id')), now() FROM generate_series(1, %(count)s)
"""
_REFUSED_DESTINATIONS = """
SELECT place, code FROM unnest(%(destinations)s::text[], %(hosts)s::text[], %(places)s::bigint[])
    sent (destination, host, place),
LATERAL (SELECT CASE
    WHEN EXISTS (SELECT FROM domains_domain d WHERE d.host = sent.host AND d.status = 'active') THEN 'loop'
    WHEN links_is_host_banned(sent.destination) THEN 'banned'
END) judged (code)
WHERE code IS NOT NULL
"""
# Until the commit, whoever wants to delete them waits.
_HOLD_DOMAINS = """
SELECT id FROM domains_domain WHERE id = ANY(%(domains)s) AND status = 'active' ORDER BY id FOR KEY SHARE
"""
# In one order, so that two such statements do not wait for each other; of those who want the same code, the first.
_TAKE = """
INSERT INTO links_code (domain_id, code, kind, link_id)
SELECT domain_id, code, kind, link_id
FROM unnest(%(domains)s::bigint[], %(codes)s::text[], %(kinds)s::text[], %(links)s::bigint[])
    WITH ORDINALITY wanted (domain_id, code, kind, link_id, place)
ORDER BY code COLLATE "C", domain_id NULLS FIRST, place
ON CONFLICT (domain_id, code) DO NOTHING
RETURNING link_id, domain_id, code
"""
_GIVE_BACK = "DELETE FROM links_code WHERE link_id = ANY(%(links)s)"

Refusals = dict[int, ServiceError]
_Lost = dict[int, list[Taken]]


def insert_links(drafts: Mapping[int, Draft], owner_id: int) -> Refusals:
    """Stores what can be stored, in the caller's transaction, and says of the others why not, by their keys.

    The links that were stored are complete afterwards. Of drafts that want the same code the first one gets it.
    """
    refused = _without_a_home(drafts)
    pending = {key: draft for key, draft in drafts.items() if key not in refused}
    for draft, (identifier, now) in zip(
        pending.values(), fetch(_IDENTIFIERS, {"count": len(pending)}), strict=True
    ):
        draft.link.pk, draft.link.updated_at = identifier, now
        draft.link.created_at = min(draft.created_at or now, now)
    free_lapsed_holds((place for draft in pending.values() for place in draft.places), owner_id=owner_id)
    stored: list[Draft] = []
    while pending:
        lost = _take(pending)
        stored += [draft for key, draft in pending.items() if key not in lost]
        decided = _decided(pending, lost, owner_id)
        refused |= decided
        pending = {key: pending[key] for key in lost if key not in decided}
    copy_links(stored)
    return refused


def refusals(drafts: Mapping[int, Draft], owner_id: int, codes: set[Place]) -> Refusals:
    """What would be refused now, without writing anything.

    ``codes`` are those that earlier drafts would have taken; what these would take is added.
    """
    refused = _without_a_home(drafts)
    gone = taken((place for draft in drafts.values() for place in draft.places), owner_id=owner_id)
    for key, draft in drafts.items():
        if key not in refused:
            lost = next((place for place in draft.places if place in gone or place in codes), None)
            if lost:
                refused[key] = rules.code_taken(lost[1])
            else:
                codes |= set(draft.places)
    return refused


def _without_a_home(drafts: Mapping[int, Draft]) -> Refusals:
    """Those that may not lead where they do, or whose domain is gone."""
    sent = [(draft.link.destination, draft.destination_host, key) for key, draft in drafts.items()]
    found = fetch(_REFUSED_DESTINATIONS, columns("destinations hosts places", sent))
    refused: Refusals = {key: rules.refused_destination(code) for key, code in found}
    wanted = {draft.link.domain_id for draft in drafts.values()} - {None}
    held = {None} | (
        {found for (found,) in fetch(_HOLD_DOMAINS, {"domains": list(wanted)})} if wanted else set()
    )
    for key, draft in drafts.items():
        if draft.link.domain_id not in held:
            refused.setdefault(key, rules.no_domain())
    return refused


def _take(drafts: Mapping[int, Draft]) -> _Lost:
    """Takes all the codes of each draft, or none of them; gives the codes that were not to be had."""
    for draft in drafts.values():
        draft.draw_short_code()
    wanted = {key: draft.codes() for key, draft in drafts.items()}
    rows = [
        (code.domain_id, code.code, str(code.kind), drafts[key].link.pk)
        for key, codes in wanted.items()
        for code in codes
    ]
    got = set(fetch(_TAKE, columns("domains codes kinds links", rows)))
    lost: _Lost = {}
    for key, codes in wanted.items():
        link = drafts[key].link.pk
        missing = [code for code in codes if (link, code.domain_id, code.code) not in got]
        if missing:
            lost[key] = missing
    if lost:
        _execute(_GIVE_BACK, {"links": [drafts[key].link.pk for key in lost]})
    return lost


def _decided(drafts: Mapping[int, Draft], lost: _Lost, owner_id: int) -> Refusals:
    """Those whose own codes are taken. The others were drawn a code that was, or lost to one that is refused."""
    asked = ((code.domain_id, code.code) for codes in lost.values() for code in codes)
    gone = taken(asked, owner_id=owner_id)
    refused: Refusals = {}
    for key, codes in lost.items():
        chosen = drafts[key].chosen
        for code in codes:
            if code.code in chosen and (code.domain_id, code.code) in gone:
                refused.setdefault(key, rules.code_taken(code.code))
    return refused


def _execute(query: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
