"""Rules of a link's fields that need no database query, and the stored values of the fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.utils import timezone

from accounts.models import User, Workspace
from common.errors import Conflict, FieldError, InvalidFields
from common.http.urls import Destination
from domains.models import Domain
from links.codes import code_rule, is_code, is_reserved
from links.fields import FIELDS, RESTRICTIONS, Kind
from links.models import Link
from links.routing.columns import columns_of as routing_columns
from links.selectors import tag_key, unsaved_link

# Per bulk call: hashing one password takes as long as storing a hundred links.
MAX_PASSWORDS = 100
MAX_TAGS = 50


# The new values of these fields do not depend on the present link.
INDEPENDENT = frozenset(field.column for field in FIELDS if not (field.leads or field.needs_link))
_COLUMNS = frozenset(field.column for field in FIELDS)


def new_link(
    *,
    owner: Workspace,
    creator: User | None,
    domain: Domain | None,
    destination: Destination,
    **fields: Any,
) -> Link:
    """Return an unsaved link without a short code. In a personal workspace, the account is always the creator.

    ``fields`` are valid values of `links.fields.FIELDS` by their columns; missing ones have their defaults.
    """
    if unknown := fields.keys() - _COLUMNS:
        raise TypeError(f"No fields: {sorted(unknown)}.")
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
    values: dict[str, Any] = {}
    for column, value in fields.items():
        if column in _OWN_VALUES:
            values |= _OWN_VALUES[column](value)
        elif column in _SIMPLE:
            values[column] = _SIMPLE[column].stored(value)
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
        raise InvalidFields([FieldError("customCode", "code", code_rule())])
    refuse_reserved(custom_code)


def refuse_reserved(custom_code: str | None) -> None:
    if custom_code is not None and is_reserved(custom_code):
        raise Conflict(f"The code {custom_code} is reserved.", code="code_reserved")


def too_many_passwords() -> InvalidFields:
    message = f"At most {MAX_PASSWORDS} passwords can be set in one call."
    return InvalidFields([FieldError("password", "too_many", message)])


def edited_tags(tags: Sequence[str], sent: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a link with these tags after what a bulk update adds and removes. Raises InvalidFields."""
    added, removed = sent.get("add_tags") or (), sent.get("remove_tags") or ()
    if not (added or removed):
        return {}
    gone = {tag_key(tag) for tag in removed}
    kept = [tag for tag in tags if tag_key(tag) not in gone]
    keys = {tag_key(tag) for tag in kept}
    new = {key: tag for tag in reversed(added) if (key := tag_key(tag)) not in keys}
    edited = [*kept, *reversed(new.values())]
    if len(edited) > MAX_TAGS:
        raise InvalidFields([FieldError("addTags", "max_length", f"A URL has at most {MAX_TAGS} tags.")])
    return _tags(edited)


def _tags(tags: list[str] | None) -> dict[str, Any]:
    return {"tags": tags or [], "tag_keys": sorted({tag_key(tag) for tag in tags or []})}


def _password(password: str | None) -> dict[str, Any]:
    return {"password": None if password is None else make_password(password)}


def _utm(utm: dict[str, str | None] | None) -> dict[str, Any]:
    return {"utm": {key: value for key, value in (utm or {}).items() if value is not None}}


def _restrictions(restrictions: dict[str, Any] | None) -> dict[str, Any]:
    """Replace the whole object: a missing restriction is removed. Removes duplicates."""
    restrictions = restrictions or {}
    return {
        field.column: list(dict.fromkeys(restrictions.get(field.column) or []))
        if field.kind is Kind.LIST
        else restrictions.get(field.column)
        for field in RESTRICTIONS
    }


_OWN_VALUES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "tags": _tags,
    "password": _password,
    "utm": _utm,
    "restrictions": _restrictions,
}
_SIMPLE = {field.column: field for field in FIELDS if not field.leads and field.column not in _OWN_VALUES}
