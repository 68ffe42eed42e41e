"""Rules of a link's fields that need no database query, and the stored values of the fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from django.contrib.auth.hashers import make_password
from django.utils import timezone

from accounts.models import User, Workspace
from common.errors import Conflict, FieldError, InvalidFields
from common.http.urls import Destination
from domains.models import Domain
from links.codes import CODE_RULE, is_code, is_reserved
from links.link_rows import unsaved_link
from links.models import Link, RedirectType
from links.routing.columns import columns_of as routing_columns
from links.selectors import tag_key
from links.storage.columns import RESTRICTIONS

# Per bulk call: hashing one password takes as long as storing a hundred links.
MAX_PASSWORDS = 100


# The new values of these fields do not depend on the present link.
INDEPENDENT = frozenset(
    ("title", "description", "tags", "is_active", "redirect_type", "password", "utm", "restrictions")
)


class LinkFields(TypedDict, total=False):
    """The fields of a creation that become columns of the link. Missing fields have their defaults."""

    custom_code: str | None
    title: str | None
    description: str | None
    tags: list[str] | None
    expires_at: datetime | None
    password: str | None
    utm: dict[str, str | None] | None
    restrictions: dict[str, Any] | None
    redirect_type: int | None
    is_active: bool
    target: Destination | None
    starts_at: datetime | None
    not_started_url: Destination | None
    expired_url: Destination | None
    forward_query: bool | None
    referrer_policy: str | None
    rules: list[dict[str, Any]] | None
    split: list[dict[str, Any]] | None
    preview: dict[str, Any] | None


def new_link(
    *,
    owner: Workspace,
    creator: User | None,
    domain: Domain | None,
    destination: Destination,
    **fields: Unpack[LinkFields],
) -> Link:
    """Return an unsaved link without a short code. In a personal workspace, the account is always the creator."""
    link = unsaved_link(
        related={"owner": owner, "creator": None if owner.is_personal else creator, "domain": domain},
        key_id=None if owner.key is None else owner.key.id,
        original_url=destination.text,
        destination=destination.href,
        **column_values(fields),
    )
    for name, value in routing_columns(link, fields, {}).items():
        setattr(link, name, value)
    return link


def column_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Map the fields of a creation or an update to the columns that they set and their values.

    `links.routing.columns` has the fields that decide where the link leads: their values depend on the link.
    """
    values: dict[str, Any] = {
        name: fields[name]
        for name in ("custom_code", "title", "description", "is_active", "expires_at")
        if name in fields
    }
    if "redirect_type" in fields:
        values["redirect_type"] = fields["redirect_type"] or RedirectType.FOUND
    if "password" in fields:
        password = fields["password"]
        values["password"] = None if password is None else make_password(password)
    if "tags" in fields:
        values |= _tags(fields["tags"])
    if "utm" in fields:
        values |= _utm(fields["utm"])
    if "restrictions" in fields:
        values |= _restrictions(fields["restrictions"])
    return values


def time_of_change(link: Link) -> datetime:
    """Now, or later if the clock is behind that of the last change: the time is the link's version."""
    return max(timezone.now(), link.updated_at + timedelta(microseconds=1))


def refuse_immutable(link: Link, changes: dict[str, Any]) -> None:
    errors = [
        FieldError(name, "immutable", "Cannot be changed.")
        for name, field in {"originalUrl": "original_url", "shortCode": "short_code"}.items()
        if changes.get(field, getattr(link, field)) != getattr(link, field)
    ]
    if errors:
        raise InvalidFields(errors)


def refuse_new_code(custom_code: str | None) -> None:
    """Refuse a code that a client may not choose. A link keeps an inherited code only as long as it is unchanged."""
    if custom_code is not None and not is_code(custom_code):
        raise InvalidFields([FieldError("customCode", "code", CODE_RULE)])
    refuse_reserved(custom_code)


def refuse_reserved(custom_code: str | None) -> None:
    if custom_code is not None and is_reserved(custom_code):
        raise Conflict(f"The code {custom_code} is reserved.", code="code_reserved")


def too_many_passwords() -> InvalidFields:
    message = f"At most {MAX_PASSWORDS} passwords can be set in one call."
    return InvalidFields([FieldError("password", "too_many", message)])


def _tags(tags: list[str] | None) -> dict[str, Any]:
    return {"tags": tags or [], "tag_keys": sorted({tag_key(tag) for tag in tags or []})}


def _utm(utm: dict[str, str | None] | None) -> dict[str, Any]:
    return {"utm": {key: value for key, value in (utm or {}).items() if value is not None}}


def _restrictions(restrictions: dict[str, Any] | None) -> dict[str, Any]:
    """Replace the whole object: a missing restriction is removed. Removes duplicates."""
    restrictions = restrictions or {}
    return {
        column.name: list(dict.fromkeys(restrictions.get(column.name) or []))
        if column.is_list
        else restrictions.get(column.name)
        for column in RESTRICTIONS
    }
