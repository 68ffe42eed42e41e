"""Creates drafts of links from validated fields, with the rules that need no other link's row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from uuid import UUID

from accounts.models import User, Workspace
from common.http.destination_url import Destination
from common.ids import parse_public_id
from domains.addresses import BASE_ID
from domains.models import Domain
from domains.selectors import domains_of
from links import rules
from links.errors import require_usable
from links.key_limits import chosen_domain
from links.routing.addresses import addresses_of, refuse_own_addresses
from links.storage.insert import Draft


class Drafting:
    """Creates the drafts of one owner. Loads the owner's domains once, unless the caller passes all of them."""

    def __init__(
        self, owner: Workspace, creator: User | None = None, domains: Iterable[Domain] | None = None
    ) -> None:
        self._owner = owner
        self._creator = creator
        self._domains = None if domains is None else _by_id(domains)

    def draft(self, fields: Mapping[str, Any]) -> Draft:
        """Create a draft from the fields of a creation and the extra fields of an import.

        Raises the errors of a single creation, except for those that depend on the rows of other links.
        """
        remaining = dict(fields)
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
            self._domains = _by_id(domains_of(self._owner))
        identifier = parse_public_id(public_id)
        return require_usable(None if identifier is None else self._domains.get(identifier))


def _by_id(domains: Iterable[Domain]) -> dict[UUID, Domain]:
    return {domain.public_id: domain for domain in domains}
