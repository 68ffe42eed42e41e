"""Stores drafts as links within the quota of the owner's plan, or computes the result without writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accounts.capacity.caps import charged_workspaces
from accounts.models import Workspace
from accounts.rights.plans import links_per_month
from common.database import in_one_transaction
from common.errors import ServiceError
from common.host import cache_versions
from links.code_claims import CodeKey
from links.storage.insert import Draft, Refusals, insert_links, refusals
from links.storage.quotas import QuotaExceeded, links_left, quota_exceeded, spend_quota


def store_drafts(owner: Workspace, drafts: Sequence[Draft | ServiceError]) -> list[Draft | ServiceError]:
    """Store drafts. Return for each the stored draft, whose link works now, or the error."""
    accepted = _by_position(drafts)
    refused = in_one_transaction(lambda: _store(accepted, owner)) if accepted else {}
    stored = (draft for position, draft in accepted.items() if position not in refused)
    cache_versions.bump(new_codes=[claim.code for draft in stored for claim in draft.claims()])
    return _verdicts(drafts, refused)


class DryRun:
    """Computes the result of storing successive batches, and writes nothing."""

    def __init__(self, owner: Workspace) -> None:
        self._owner = owner
        self._quota = links_per_month(owner.plan)
        charged = charged_workspaces(owner) if self._quota else []
        self._left = links_left(owners=charged, quota=self._quota) if self._quota else None
        # Codes that earlier drafts would have claimed.
        self._claimed: set[CodeKey] = set()

    def verdicts(self, drafts: Sequence[Draft | ServiceError]) -> list[Draft | ServiceError]:
        accepted = _by_position(drafts)
        refused = refusals(accepted, self._owner.pk, self._claimed)
        if self._left is not None:
            refused = _limited_by_quota(self._left, self._quota, accepted, refused)
            self._left -= len(accepted) - len(refused)
        return _verdicts(drafts, refused)


def _store(drafts: Mapping[int, Draft], owner: Workspace) -> Refusals:
    quota = links_per_month(owner.plan)
    if not quota:
        return insert_links(drafts, owner.pk)
    charged = charged_workspaces(owner)
    left = initial = links_left(owners=charged, quota=quota, lock=True)
    refused: Refusals = {}
    pending = drafts
    while pending:
        over_quota: Refusals = {}
        if len(pending) > left:
            expected = refusals(pending, owner.pk, set()) if left else {}
            over_quota = _limited_by_quota(left, quota, pending, expected)
        within_quota = {key: draft for key, draft in pending.items() if key not in over_quota}
        failed = insert_links(within_quota, owner.pk) if within_quota else {}
        left -= len(within_quota) - len(failed)
        refused |= over_quota | failed
        # A draft whose code another link has claimed since the check frees quota for later drafts.
        pending = {
            key: pending[key]
            for key, error in over_quota.items()
            if isinstance(error, QuotaExceeded) and failed
        }
        refused = {key: error for key, error in refused.items() if key not in pending}
    if left < initial:
        spend_quota(owners=charged, quota=quota, links=initial - left)
    return refused


def _limited_by_quota(left: int, quota: int, drafts: Mapping[int, Draft], refused: Refusals) -> Refusals:
    """Accept at most ``left`` drafts, and refuse every later draft because of the quota."""
    limited: Refusals = {}
    for key in drafts:
        if not left:
            error = quota_exceeded(quota)
            return limited | {later: error for later in drafts if later >= key}
        if key in refused:
            limited[key] = refused[key]
        else:
            left -= 1
    return limited


def _by_position(drafts: Sequence[Draft | ServiceError]) -> dict[int, Draft]:
    return {position: draft for position, draft in enumerate(drafts) if isinstance(draft, Draft)}


def _verdicts(drafts: Sequence[Draft | ServiceError], refused: Refusals) -> list[Draft | ServiceError]:
    return [refused.get(position, draft) for position, draft in enumerate(drafts)]
