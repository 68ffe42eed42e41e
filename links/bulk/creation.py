"""Creates many links, for bulk calls and imports.

`Drafting` makes drafts from validated fields, with the rules that need no other link's row. `store_drafts` stores them
within the quota of the owner's plan, and `DryRun` computes the result without writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from accounts.callers import require_scope
from accounts.caps import charged_workspaces
from accounts.models import User, Workspace
from accounts.rights import Scope, links_per_month
from common.errors import ServiceError
from common.host import cache_versions
from common.http.short_urls import BASE_ID
from common.http.urls import Destination
from common.ids import parse_public_id
from domains.models import Domain
from links import rules
from links.errors import require_usable
from links.existing import refuse_password
from links.key_limits import chosen_domain
from links.models import UtmTemplate
from links.routing.addresses import addresses_of, refuse_own_addresses
from links.storage.insert import Claimed, Draft, Refusals, insert_links, refusals
from links.storage.quotas import QuotaExceeded, links_left, quota_exceeded, spend_quota
from links.storage.unique_values import with_free_values
from links.utm_templates.services import Templates


class Drafting:
    """Creates the drafts of one owner. Loads the owner's domains once, unless the caller passes all of them.

    ``templates`` are those that need not be loaded.
    """

    def __init__(
        self,
        owner: Workspace,
        creator: User | None = None,
        domains: Iterable[Domain] | None = None,
        templates: Iterable[UtmTemplate] = (),
    ) -> None:
        self._owner = owner
        self._creator = creator
        self._domains = None if domains is None else _by_id(domains)
        self._templates = Templates(owner, templates)

    def draft(self, fields: Mapping[str, Any]) -> Draft:
        """Create a draft from the fields of a creation and the extra fields of an import.

        Raises the errors of a single creation, except for those that depend on the rows of other links.
        """
        remaining = self._templates.apply(fields)
        is_looked_for = remaining.pop("find_if_exists", False)
        if is_looked_for:
            require_scope(self._owner, Scope.URLS_READ)
            refuse_password(remaining)
        domain_id = remaining.pop("domain_id", None)
        if self._owner.key is not None:
            domain_id = self._default_domain if domain_id is None else chosen_domain(self._owner, domain_id)
        imported = {
            name: remaining.pop(name) for name in ("short_code", "created_at", "clicks") if name in remaining
        }
        aliases = remaining.pop("aliases", ())
        addresses = addresses_of(remaining)
        destination: Destination = remaining.pop("destination")
        refuse_own_addresses(addresses)
        domain = None if domain_id is None or domain_id == BASE_ID else self._domain(domain_id)
        draft = Draft(
            rules.new_link(
                owner=self._owner,
                creator=self._creator,
                domain=domain,
                destination=destination,
                **remaining,
            ),
            addresses,
            **imported,
        )
        if is_looked_for:
            draft.given = frozenset(remaining)
        if draft.link.custom_code == draft.short_code:
            draft.link.custom_code = None
        draft.aliases = tuple(code for code in dict.fromkeys(aliases) if code not in draft.chosen_codes)
        for code in draft.chosen_codes:
            rules.refuse_reserved(code)
        return draft

    @cached_property
    def _default_domain(self) -> str | None:
        return chosen_domain(self._owner, None)

    def _domain(self, public_id: str) -> Domain:
        if self._domains is None:
            self._domains = _by_id(Domain.objects.visible_to(self._owner))
        identifier = parse_public_id(public_id)
        return require_usable(None if identifier is None else self._domains.get(identifier))


def _by_id(domains: Iterable[Domain]) -> dict[UUID, Domain]:
    return {domain.public_id: domain for domain in domains}


def store_drafts(
    owner: Workspace,
    drafts: Sequence[Draft | ServiceError],
    *,
    finish: Callable[[int], None] | None = None,
) -> list[Draft | ServiceError]:
    """Store drafts. Return for each the stored draft, whose link works now, or the error.

    ``finish`` runs at the end of their transaction, with the number of stored drafts.
    """
    accepted = _by_position(drafts)

    def work() -> Refusals:
        refused = _store(accepted, owner) if accepted else {}
        if finish is not None:
            finish(len(accepted) - len(refused))
        return refused

    refused = with_free_values(work) if accepted or finish else {}
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
        # What earlier drafts would have claimed.
        self._claimed: set[Claimed] = set()

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
