"""Unsaved links and the codes that they claim."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from links.codes.format import generate_code
from links.codes.namespace import CodeClaim, CodeKey, codes_of_new_link
from links.models import CodeKind, Link
from links.routing.addresses import Address


@dataclass(slots=True)
class Draft:
    """An unsaved link. An imported link keeps its short code, date and clicks.

    A link without a short code gets a new one. ``aliases`` are additional codes of the link. ``addresses`` are all
    URLs to which it can lead.
    """

    link: Link
    addresses: list[Address]
    short_code: str | None = None
    aliases: tuple[str, ...] = ()
    created_at: datetime | None = None
    clicks: int = 0

    @property
    def chosen_codes(self) -> list[str]:
        """The codes that the link must get; otherwise it is refused."""
        return [code for code in (self.short_code, self.link.custom_code, *self.aliases) if code is not None]

    @property
    def code_keys(self) -> list[CodeKey]:
        """The chosen codes with their domains. They include the short code on the default domain."""
        keys: list[CodeKey] = [(self.link.domain_id, code) for code in self.chosen_codes]
        if self.short_code is not None and self.link.domain_id is not None:
            keys.append((None, self.short_code))
        return keys

    def set_short_code(self) -> None:
        """Give the link its chosen short code, or a newly generated one."""
        self.link.short_code = self.short_code or generate_code(self.chosen_codes)

    def claims(self) -> list[CodeClaim]:
        domain_id = self.link.domain_id
        return [
            *codes_of_new_link(domain_id, self.link.short_code, self.link.custom_code),
            *(CodeClaim(domain_id, alias, CodeKind.ALIAS) for alias in self.aliases),
        ]
