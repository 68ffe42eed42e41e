"""Many new links at once: what each is to become, before the database is asked whether it may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import User
from common.ids import parse_public_id
from domains.addresses import BASE_ID
from domains.models import Domain
from domains.selectors import usable_domains
from links import rules
from links.codes import generate_code
from links.models import CodeKind, Link
from links.namespace import Place, Taken, codes_of_new_link


@dataclass(slots=True)
class Draft:
    """A link that is not stored yet, and what it brings along from where it was before, if it was anywhere.

    It is given a short code unless it brings one; ``aliases`` are further codes that lead to it.
    """

    link: Link
    destination_host: str
    short_code: str | None = None
    aliases: tuple[str, ...] = ()
    created_at: datetime | None = None
    clicks: int = 0

    @property
    def chosen(self) -> list[str]:
        """The codes without which it is refused."""
        return [code for code in (self.short_code, self.link.custom_code, *self.aliases) if code is not None]

    @property
    def places(self) -> list[Place]:
        """Where it must get them; a short code of its own at home, too."""
        codes = [(self.link.domain_id, code) for code in self.chosen]
        if self.short_code is not None and self.link.domain_id is not None:
            codes.append((None, self.short_code))
        return codes

    def draw_short_code(self) -> None:
        self.link.short_code = self.short_code or generate_code()
        while self.short_code is None and self.link.short_code in self.chosen:
            self.link.short_code = generate_code()

    def codes(self) -> list[Taken]:
        domain_id = self.link.domain_id
        return [
            *codes_of_new_link(domain_id, self.link.short_code, self.link.custom_code),
            *(Taken(domain_id, alias, CodeKind.ALIAS) for alias in self.aliases),
        ]


class Drafting:
    """Makes the drafts of one owner, whose domains are looked up once, unless they are known."""

    def __init__(self, owner: User, domains: Iterable[Domain] | None = None) -> None:
        self._owner = owner
        self._domains = None if domains is None else _by_id(domains)

    def draft(self, fields: Mapping[str, Any]) -> Draft:
        """Of the fields of a creation, and those that a link brings along.

        Raises what a single creation would, as far as no row of another link decides.
        """
        given = dict(fields)
        domain_id = given.pop("domain_id", None)
        brought = {name: given.pop(name) for name in ("short_code", "created_at", "clicks") if name in given}
        aliases, is_active = given.pop("aliases", ()), given.pop("is_active", True)
        destination = rules.destination_elsewhere(given["original_url"])
        domain = None if domain_id is None or domain_id == BASE_ID else self._domain(domain_id)
        draft = Draft(
            rules.new_link(owner=self._owner, domain=domain, destination=destination, **given),
            destination.host.removesuffix("."),
            **brought,
        )
        draft.link.is_active = is_active
        if draft.link.custom_code == draft.short_code:
            draft.link.custom_code = None
        draft.aliases = tuple(code for code in dict.fromkeys(aliases) if code not in draft.chosen)
        for code in draft.chosen:
            rules.refuse_reserved(code)
        return draft

    def _domain(self, public_id: str) -> Domain:
        if self._domains is None:
            self._domains = _by_id(usable_domains(self._owner))
        identifier = parse_public_id(public_id)
        domain = None if identifier is None else self._domains.get(identifier)
        if domain is None:
            raise rules.no_domain()
        return domain


def _by_id(domains: Iterable[Domain]) -> dict[UUID, Domain]:
    return {domain.public_id: domain for domain in domains}
