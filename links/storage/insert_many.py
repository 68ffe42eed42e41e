"""Inserts many links and their codes. The number of statements does not grow with the number of links."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from common.errors import ServiceError
from links.codes.namespace import CodeClaim, CodeKey, release_holds, unavailable_codes
from links.errors import CodeTaken, domain_not_found
from links.selectors import fetch
from links.storage.code_claims import claim_codes, release_codes
from links.storage.copy_from import copy_links
from links.storage.drafts import Draft
from links.storage.refused_destinations import refused_links

_IDENTIFIERS = """
SELECT nextval(pg_get_serial_sequence('links_link', 'id')), now() FROM generate_series(1, %(count)s)
"""
# Prevent deletion of these domains until the commit.
_LOCK_DOMAINS = """
SELECT id FROM domains_domain WHERE id = ANY(%(domains)s) AND status = 'active' ORDER BY id FOR KEY SHARE
"""

Refusals = dict[int, ServiceError]
_Conflicts = dict[int, list[CodeClaim]]


def insert_links(drafts: Mapping[int, Draft], owner_id: int) -> Refusals:
    """Insert drafts in the caller's transaction. Return the errors of the refused ones, by their keys.

    Completes the inserted links with the values that the database sets. If several drafts claim the same code, the
    first one gets it.
    """
    refused = _refused_regardless_of_codes(drafts)
    pending = {key: draft for key, draft in drafts.items() if key not in refused}
    for draft, (identifier, now) in zip(
        pending.values(), fetch(_IDENTIFIERS, {"count": len(pending)}), strict=True
    ):
        draft.link.pk, draft.link.updated_at = identifier, now
        draft.link.created_at = min(draft.created_at or now, now)
    release_holds((key for draft in pending.values() for key in draft.code_keys), owner_id=owner_id)
    inserted: list[Draft] = []
    while pending:
        conflicts = _claim(pending)
        inserted += [draft for key, draft in pending.items() if key not in conflicts]
        taken = _refused_by_codes(pending, conflicts, owner_id)
        refused |= taken
        pending = {key: pending[key] for key in conflicts if key not in taken}
    copy_links(inserted)
    return refused


def refusals(drafts: Mapping[int, Draft], owner_id: int, claimed: set[CodeKey]) -> Refusals:
    """Return the errors that an insert would return now, without writing anything.

    ``claimed`` has the codes that earlier drafts would have claimed. This adds the codes of these drafts.
    """
    refused = _refused_regardless_of_codes(drafts)
    unavailable = unavailable_codes(
        (key for draft in drafts.values() for key in draft.code_keys), owner_id=owner_id
    )
    for key, draft in drafts.items():
        if key in refused:
            continue
        taken = next((code for code in draft.code_keys if code in unavailable or code in claimed), None)
        if taken is None:
            claimed |= set(draft.code_keys)
        else:
            refused[key] = CodeTaken(taken[1])
    return refused


def _refused_regardless_of_codes(drafts: Mapping[int, Draft]) -> Refusals:
    """Refuse drafts with a loop or a banned URL, and drafts on a domain that is no longer active."""
    refused: Refusals = {**refused_links({key: draft.addresses for key, draft in drafts.items()})}
    active = _lock_domains({draft.link.domain_id for draft in drafts.values()} - {None})
    for key, draft in drafts.items():
        if draft.link.domain_id is not None and draft.link.domain_id not in active:
            refused.setdefault(key, domain_not_found())
    return refused


def _lock_domains(domain_ids: Collection[int | None]) -> set[int]:
    """Lock these domains, and return the ids of the active ones."""
    if not domain_ids:
        return set()
    return {domain_id for (domain_id,) in fetch(_LOCK_DOMAINS, {"domains": list(domain_ids)})}


def _claim(drafts: Mapping[int, Draft]) -> _Conflicts:
    """Claim all codes of each draft, or none. Return the codes that were not available, by the keys of the drafts."""
    for draft in drafts.values():
        draft.set_short_code()
    claims = {key: draft.claims() for key, draft in drafts.items()}
    successful = claim_codes({drafts[key].link.pk: codes for key, codes in claims.items()})
    conflicts: _Conflicts = {}
    for key, codes in claims.items():
        link_id = drafts[key].link.pk
        missing = [claim for claim in codes if (link_id, claim.domain_id, claim.code) not in successful]
        if missing:
            conflicts[key] = missing
    if conflicts:
        release_codes([drafts[key].link.pk for key in conflicts])
    return conflicts


def _refused_by_codes(drafts: Mapping[int, Draft], conflicts: _Conflicts, owner_id: int) -> Refusals:
    """Refuse drafts whose chosen codes are taken.

    The other conflicts can be resolved: a generated code was taken, or a draft that is refused had claimed the code.
    """
    missing = (claim.key for claims in conflicts.values() for claim in claims)
    unavailable = unavailable_codes(missing, owner_id=owner_id)
    refused: Refusals = {}
    for key, claims in conflicts.items():
        chosen = drafts[key].chosen_codes
        for claim in claims:
            if claim.code in chosen and claim.key in unavailable:
                refused.setdefault(key, CodeTaken(claim.code))
    return refused
