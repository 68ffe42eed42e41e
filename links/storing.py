"""Drafts become links, as many as the owner's plan allows; or it is told what would become of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accounts.models import User
from accounts.plans import links_per_month
from common import versions
from common.database import in_one_transaction
from common.errors import ServiceError
from links.drafts import Draft
from links.insert_many import Refusals, insert_links, refusals
from links.namespace import Place
from links.quotas import QuotaExceeded, exceeded, links_left, spend_quota


def store_drafts(owner: User, drafts: Sequence[Draft | ServiceError]) -> list[Draft | ServiceError]:
    """Those that were stored, complete now and in force, or what they were refused for."""
    wanted = _wanted(drafts)
    refused = in_one_transaction(lambda: _store(wanted, owner)) if wanted else {}
    stored = (draft for place, draft in wanted.items() if place not in refused)
    versions.bump(new_codes=[taken.code for draft in stored for taken in draft.codes()])
    return _verdicts(drafts, refused)


class Rehearsal:
    """Tells of one batch after the other what would become of it now, and writes nothing."""

    def __init__(self, owner: User) -> None:
        self._owner = owner
        self._quota = links_per_month(owner.plan)
        self._left = links_left(owner=owner, quota=self._quota) if self._quota else None
        # Those that earlier drafts would have taken.
        self._codes: set[Place] = set()

    def verdicts(self, drafts: Sequence[Draft | ServiceError]) -> list[Draft | ServiceError]:
        wanted = _wanted(drafts)
        refused = refusals(wanted, self._owner.pk, self._codes)
        if self._left is not None:
            refused = _as_far_as(self._left, self._quota, wanted, refused)
            self._left -= len(wanted) - len(refused)
        return _verdicts(drafts, refused)


def _store(drafts: Mapping[int, Draft], owner: User) -> Refusals:
    quota = links_per_month(owner.plan)
    if not quota:
        return insert_links(drafts, owner.pk)
    left = most = links_left(owner=owner, quota=quota, hold=True)
    refused: Refusals = {}
    pending = drafts
    while pending:
        beforehand: Refusals = {}
        if len(pending) > left:
            judged = refusals(pending, owner.pk, set()) if left else {}
            beforehand = _as_far_as(left, quota, pending, judged)
        chosen = {key: draft for key, draft in pending.items() if key not in beforehand}
        lost = insert_links(chosen, owner.pk) if chosen else {}
        left -= len(chosen) - len(lost)
        refused |= beforehand | lost
        # Whoever lost a code since the question leaves room for those that were behind it.
        pending = {
            key: pending[key] for key, each in beforehand.items() if isinstance(each, QuotaExceeded) and lost
        }
        refused = {key: each for key, each in refused.items() if key not in pending}
    if left < most:
        spend_quota(owner=owner, quota=quota, links=most - left)
    return refused


def _as_far_as(left: int, quota: int, drafts: Mapping[int, Draft], refused: Refusals) -> Refusals:
    """What is refused when only ``left`` more may be stored: after them, everything."""
    found: Refusals = {}
    for key in drafts:
        if not left:
            over = exceeded(quota)
            return found | {each: over for each in drafts if each >= key}
        if key in refused:
            found[key] = refused[key]
        else:
            left -= 1
    return found


def _wanted(drafts: Sequence[Draft | ServiceError]) -> dict[int, Draft]:
    return {place: draft for place, draft in enumerate(drafts) if isinstance(draft, Draft)}


def _verdicts(drafts: Sequence[Draft | ServiceError], refused: Refusals) -> list[Draft | ServiceError]:
    return [refused.get(place, draft) for place, draft in enumerate(drafts)]
