"""Writes to links. Each is one statement or one transaction of its own; a signature is the list of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import User
from accounts.plans import links_per_month
from common import versions
from common.database import apart
from common.destination_url import Destination, canonical_destination
from common.errors import Conflict, FieldError, InvalidFields, NotFound
from common.ids import new_public_id, parse_public_id
from domains.addresses import BASE_ID, leads_home
from domains.models import Domain
from domains.selectors import usable_domain
from links import namespace
from links.codes import generate_code, is_reserved
from links.insert import insert_link, is_domain_gone
from links.models import Link, RedirectType
from links.quotas import spend_quota
from links.selectors import get_link, tag_key

_DELETE = f"""
WITH held AS (
    UPDATE links_code SET kind = 'retired', link_id = NULL, owner_id = links_link.owner_id,
        held_until = now() + interval '{namespace.HOLD_DAYS} days'
    FROM links_link WHERE links_link.id = %(link)s AND link_id = links_link.id
    RETURNING code
), counters AS (
    DELETE FROM links_clickcounter WHERE link_id = %(link)s
), deleted AS (
    DELETE FROM links_link WHERE id = %(link)s
)
SELECT code FROM held
"""  # noqa: S608 # put together from constants

_CLAIM = """
WITH claimed AS (
    UPDATE links_clickcounter SET clicks = clicks + 1 FROM links_link l
    WHERE link_id = %(link)s AND l.id = link_id AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > now())
      AND (l.max_clicks IS NULL OR clicks < l.max_clicks)
      AND NOT links_is_banned(l.id, l.owner_id, l.destination)
    RETURNING link_id
)
"""
_LOCK = "SELECT link_id FROM links_clickcounter WHERE link_id = ANY(%s) ORDER BY link_id FOR NO KEY UPDATE"
_ADD = """
UPDATE links_clickcounter c SET clicks = c.clicks + added.clicks
FROM unnest(%s::bigint[], %s::bigint[]) added (link_id, clicks) WHERE c.link_id = added.link_id
"""


def create_link(
    *,
    owner: User,
    original_url: str,
    custom_code: str | None = None,
    domain_id: str | None = None,
    title: str | None = None,
    description: str | None = None,
    tags: list[str] | None = None,
    expires_at: datetime | None = None,
    password: str | None = None,
    utm: dict[str, str | None] | None = None,
    restrictions: dict[str, Any] | None = None,
    redirect_type: int | None = None,
) -> Link:
    """The new link, in force on return. Raises Conflict, NotFound, InvalidFields or QuotaExceeded, having written
    nothing."""
    destination = _destination_elsewhere(original_url)
    domain = _domain(owner, domain_id)
    _refuse_reserved(custom_code)
    link = Link(
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
    quota = links_per_month(owner.plan)
    # One transaction with the quota, where there is one: what is refused below uses nothing up.
    with transaction.atomic() if quota else nullcontext():
        if quota:
            spend_quota(owner=owner, quota=quota)
        _insert(link, destination)
    codes = [link.short_code, custom_code or link.short_code]
    versions.bump(codes=codes)
    if connection.in_atomic_block:
        # Somebody else's transaction: until its end others may look, and keep that there is nothing.
        transaction.on_commit(partial(versions.bump, codes=codes))
    return link


def update_link(*, owner: User, public_id: str, changes: dict[str, Any]) -> Link:
    """Changes the fields that were sent, all or none of them; in force on every worker on return."""
    fields = _changed_fields(changes)
    with transaction.atomic():
        if "custom_code" in fields:
            namespace.hold_domain_of(parse_public_id(public_id))
        link = get_link(owner, public_id, lock=True)
        _refuse_immutable(link, changes)
        if "custom_code" in fields and fields["custom_code"] != link.custom_code:
            _rename(link, fields["custom_code"])
        if fields:
            for name, value in {**fields, "updated_at": timezone.now()}.items():
                setattr(link, name, value)
            link.save(update_fields=[*fields, "updated_at"])
            codes = namespace.codes_of(link.pk)
    if fields:
        versions.bump(codes=codes)
    return link


def delete_link(*, owner: User, public_id: str) -> None:
    """The codes of a deleted link are held back, so that nobody else can take over what was printed."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Locked first: the statement must see the codes that a rename in progress is about to commit.
        link = get_link(owner, public_id, lock=True)
        cursor.execute(_DELETE, {"link": link.pk})
        codes = [code for (code,) in cursor.fetchall()]
    versions.bump(codes=codes)


def claim_click(*, link_id: int, record: str, values: dict[str, Any]) -> bool:
    """Takes one of a capped link's clicks, if there is one left: exact under any concurrency.

    ``record`` is an INSERT of one row FROM claimed. It is part of the same statement: both happen, or neither.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM + record, {**values, "link": link_id})
        return bool(cursor.rowcount)


def add_clicks(clicks: Mapping[int, int]) -> set[int]:
    """Adds to the counters of these links and gives those that exist, in the caller's transaction.

    Until its end no other transaction changes the counters that are given; they are taken in order, so that two
    callers cannot wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(clicks)])
        existing = {link_id for (link_id,) in cursor.fetchall()}
        added = {link_id: clicks[link_id] for link_id in existing if clicks[link_id]}
        if added:
            cursor.execute(_ADD, [list(added), list(added.values())])
    return existing


def _insert(link: Link, destination: Destination) -> None:
    custom_code, hold_freed = link.custom_code, False
    while True:
        link.short_code = generate_code()
        if link.short_code == custom_code:
            continue
        try:
            with apart():
                refused = insert_link(link, destination.host.removesuffix("."))
            if refused is not None:
                raise _refused_destination(refused)
            return
        except IntegrityError as error:
            if custom_code is not None and namespace.is_taken(error, custom_code):
                # The hold of a deleted link may be over; asked only now, as codes are rarely taken.
                if hold_freed or not namespace.free_lapsed_hold(
                    domain_id=link.domain_id, code=custom_code, owner_id=link.owner_id
                ):
                    raise _code_taken(custom_code) from None
                hold_freed = True
            elif is_domain_gone(error):
                raise _no_domain() from None
            elif not namespace.is_taken(error, link.short_code):
                raise


def _changed_fields(changes: dict[str, Any]) -> dict[str, Any]:
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


def _rename(link: Link, custom_code: str | None) -> None:
    _refuse_reserved(custom_code)
    # Takes before it gives: two links that want each other's codes would wait for each other the other way round.
    if custom_code is not None and not namespace.take_custom_code(
        domain_id=link.domain_id, code=custom_code, link_id=link.pk, owner_id=link.owner_id
    ):
        raise _code_taken(custom_code)
    if link.custom_code is not None:
        namespace.renounce_custom_code(domain_id=link.domain_id, code=link.custom_code, link_id=link.pk)


def _refuse_immutable(link: Link, changes: dict[str, Any]) -> None:
    errors = [
        FieldError(name, "immutable", "Cannot be changed.")
        for name, field in {"originalUrl": "original_url", "shortCode": "short_code"}.items()
        if changes.get(field, getattr(link, field)) != getattr(link, field)
    ]
    if errors:
        raise InvalidFields(errors)


def _refuse_reserved(custom_code: str | None) -> None:
    if custom_code is not None and is_reserved(custom_code):
        raise Conflict(f"The code {custom_code} is reserved.", code="code_reserved")


def _code_taken(code: str) -> Conflict:
    return Conflict(f"The code {code} is already in use.", code="code_taken")


def _domain(owner: User, domain_id: str | None) -> Domain | None:
    if domain_id is None or domain_id == BASE_ID:
        return None
    domain = usable_domain(owner, domain_id)
    if domain is None:
        raise _no_domain()
    return domain


def _no_domain() -> NotFound:
    return NotFound("Domain not found.")


def _destination_elsewhere(original_url: str) -> Destination:
    """Refuses our own address; customers' domains here and banned hosts are refused by the statement that inserts."""
    destination = canonical_destination(original_url)
    if leads_home(destination):
        raise _refused_destination("loop")
    return destination


def _refused_destination(code: str) -> InvalidFields:
    message = {"loop": "Leads back to this service.", "banned": "Leads to a host that is banned here."}[code]
    return InvalidFields([FieldError("originalUrl", code, message)])


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
