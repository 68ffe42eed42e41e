"""What the fields of a link may be and what they become: all that can be said without asking the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.hashers import make_password

from accounts.models import User
from common.destination_url import Destination, canonical_destination
from common.errors import Conflict, FieldError, InvalidFields, NotFound
from common.ids import new_public_id
from domains.addresses import NO_DESTINATION, leads_home
from domains.models import Domain
from links.codes import is_reserved
from links.models import Link, RedirectType
from links.selectors import tag_key

# Of one call with many links: a hash takes as long as a hundred links.
MAX_PASSWORDS = 100


def new_link(
    *,
    owner: User,
    domain: Domain | None,
    original_url: str,
    destination: Destination,
    custom_code: str | None = None,
    title: str | None = None,
    description: str | None = None,
    tags: list[str] | None = None,
    expires_at: datetime | None = None,
    password: str | None = None,
    utm: dict[str, str | None] | None = None,
    restrictions: dict[str, Any] | None = None,
    redirect_type: int | None = None,
) -> Link:
    """A link that is nowhere yet, and has no short code yet."""
    return Link(
        public_id=new_public_id(),
        owner=owner,
        domain=domain,
        custom_code=custom_code,
        original_url=original_url,
        destination=destination.href,
        title=title,
        description=description,
        expires_at=expires_at,
        password=None if password is None else make_password(password),
        redirect_type=redirect_type or RedirectType.FOUND,
        **_tags(tags),
        **_utm(utm),
        **_restrictions(restrictions),
    )


def changed_fields(changes: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: changes[name]
        for name in ("custom_code", "title", "description", "is_active", "expires_at")
        if name in changes
    }
    if "redirect_type" in changes:
        fields["redirect_type"] = changes["redirect_type"] or RedirectType.FOUND
    if "password" in changes:
        given = changes["password"]
        fields["password"] = None if given is None else make_password(given)
    if "tags" in changes:
        fields |= _tags(changes["tags"])
    if "utm" in changes:
        fields |= _utm(changes["utm"])
    if "restrictions" in changes:
        fields |= _restrictions(changes["restrictions"])
    return fields


def refuse_immutable(link: Link, changes: dict[str, Any]) -> None:
    errors = [
        FieldError(name, "immutable", "Cannot be changed.")
        for name, field in {"originalUrl": "original_url", "shortCode": "short_code"}.items()
        if changes.get(field, getattr(link, field)) != getattr(link, field)
    ]
    if errors:
        raise InvalidFields(errors)


def refuse_reserved(custom_code: str | None) -> None:
    if custom_code is not None and is_reserved(custom_code):
        raise Conflict(f"The code {custom_code} is reserved.", code="code_reserved")


def code_taken(code: str) -> Conflict:
    return Conflict(f"The code {code} is already in use.", code="code_taken")


def too_many_passwords() -> InvalidFields:
    sentence = f"At most {MAX_PASSWORDS} passwords are set in one call."
    return InvalidFields([FieldError("password", "too_many", sentence)])


def no_url() -> NotFound:
    return NotFound("URL not found.")


def no_domain() -> NotFound:
    return NotFound("Domain not found.")


def destination_elsewhere(original_url: str) -> Destination:
    """Refuses our own address; customers' domains here and banned hosts are refused by the statement that inserts."""
    destination = canonical_destination(original_url)
    if leads_home(destination):
        raise refused_destination("loop")
    return destination


def refused_destination(code: str) -> InvalidFields:
    return InvalidFields([FieldError("originalUrl", code, NO_DESTINATION[code])])


def _tags(tags: list[str] | None) -> dict[str, Any]:
    return {"tags": tags or [], "tag_keys": sorted({tag_key(tag) for tag in tags or []})}


def _utm(utm: dict[str, str | None] | None) -> dict[str, Any]:
    return {"utm": {key: value for key, value in (utm or {}).items() if value is not None}}


def _restrictions(given: dict[str, Any] | None) -> dict[str, Any]:
    """The whole object is replaced: what it does not name is no longer restricted. Duplicates collapse."""
    given = given or {}
    return {
        "max_clicks": given.get("max_clicks"),
        **{
            name: list(dict.fromkeys(given.get(name) or []))
            for name in ("allowed_countries", "blocked_countries", "allowed_devices")
        },
    }
