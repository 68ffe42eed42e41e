"""The URLs of a link that have to be checked before it may lead to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from common.errors import FieldError, InvalidFields
from common.http.urls import Destination, canonical_destination
from domains.addresses import NO_DESTINATION, is_own_address
from links.fields import FIELDS, Kind
from links.models import Link

# The sources of the fields with one URL, and their names.
_SINGLE = {
    "destination": "originalUrl",
    **{field.column: field.name for field in FIELDS if field.kind is Kind.URL},
}
_LISTS = ("rules", "split")


class Address(NamedTuple):
    """``field`` is the path of the field in the request."""

    field: str
    destination: Destination

    @property
    def host(self) -> str:
        """The host as the tables of domains and bans have it."""
        return self.destination.host.removesuffix(".")


def addresses_of(fields: Mapping[str, Any]) -> list[Address]:
    """All URLs that the link would have by the validated fields of a creation or an update.

    They include the image of the preview, because messengers show it.
    """
    addresses = [
        Address(name, fields[source]) for source, name in _SINGLE.items() if fields.get(source) is not None
    ]
    if "rules" in fields or "split" in fields:
        addresses += _of_branches(fields)
    if (image := (fields.get("preview") or {}).get("image_url")) is not None:
        addresses.append(Address("preview.imageUrl", image))
    return addresses


def kept_urls(link: Link, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The URLs to which the link still leads after an update with these fields, with the paths of their fields."""
    if fields.get("target_url") is None:
        has_target = "target_url" not in fields and link.target_url is not None
        yield (
            (_SINGLE["target_url"], link.target_url or "")
            if has_target
            else ("originalUrl", link.original_url)
        )
    for source, name in _SINGLE.items():
        if source not in {"destination", "target_url"} and source not in fields and getattr(link, source):
            yield name, getattr(link, source)
    for name in _LISTS:
        if name not in fields:
            for index, entry in enumerate(getattr(link, name)):
                yield f"{name}.{index}.url", entry["href"]


def restored_destination(link: Link, fields: Mapping[str, Any]) -> Destination | None:
    """The destination of the link's ``originalUrl`` if the update removes its target, else None."""
    removes_target = "target_url" in fields and fields["target_url"] is None and link.target_url is not None
    return canonical_destination(link.original_url) if removes_target else None


def new_addresses_of(link: Link, fields: Mapping[str, Any], restored: Destination | None) -> list[Address]:
    """The URLs in the fields of an update to which the link cannot lead yet. ``restored``: see above.

    Clients may send back unchanged fields of a link with a URL that was banned later. The ban already stops the link.
    """
    addresses = addresses_of(fields)
    if restored is not None:
        addresses.append(Address(_SINGLE["target_url"], restored))
    known = {link.destination, *link.other_destinations}
    return [address for address in addresses if address.destination.href not in known]


def _of_branches(fields: Mapping[str, Any]) -> Iterator[Address]:
    for name in _LISTS:
        for index, entry in enumerate(fields.get(name) or []):
            yield Address(f"{name}.{index}.url", entry["url"])


def refuse_own_addresses(addresses: Sequence[Address]) -> None:
    """The first check: refuse URLs of the service's own hosts.

    `links.storage.refused_destinations` has the others, which need the database. Raises InvalidFields.
    """
    reasons = ["loop" if is_own_address(address.destination) else None for address in addresses]
    if any(reasons):
        raise refused_addresses(addresses, reasons)


def refused_addresses(addresses: Sequence[Address], reasons: Sequence[str | None]) -> InvalidFields:
    """The errors of the addresses with a reason: a key of NO_DESTINATION. At least one has a reason."""
    return InvalidFields(
        FieldError(address.field, _code(address.field, reason), NO_DESTINATION[reason])
        for address, reason in zip(addresses, reasons, strict=True)
        if reason is not None
    )


def _code(field: str, reason: str) -> str:
    return "banned_destination" if reason == "banned" and field != "originalUrl" else reason
