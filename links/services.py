"""Writes to links. Each is one statement or one transaction of its own; a signature is the list of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import User
from accounts.plans import links_per_month
from common import versions
from common.database import apart
from common.destination_url import Destination
from common.ids import parse_public_id
from domains.addresses import BASE_ID
from domains.models import Domain
from domains.selectors import usable_domain
from links import namespace, rules
from links.codes import generate_code
from links.insert import insert_link, is_domain_gone
from links.models import Link
from links.quotas import spend_quota
from links.selectors import get_link

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
    destination = rules.destination_elsewhere(original_url)
    domain = _domain(owner, domain_id)
    rules.refuse_reserved(custom_code)
    link = rules.new_link(
        owner=owner,
        domain=domain,
        original_url=original_url,
        destination=destination,
        custom_code=custom_code,
        title=title,
        description=description,
        tags=tags,
        expires_at=expires_at,
        password=password,
        utm=utm,
        restrictions=restrictions,
        redirect_type=redirect_type,
    )
    quota = links_per_month(owner.plan)
    # One transaction with the quota, where there is one: what is refused below uses nothing up.
    with transaction.atomic() if quota else nullcontext():
        if quota:
            spend_quota(owner=owner, quota=quota)
        _insert(link, destination)
    versions.bump(new_codes=[link.short_code, custom_code or link.short_code])
    return link


def update_link(*, owner: User, public_id: str, changes: dict[str, Any]) -> Link:
    """Changes the fields that were sent, all or none of them; in force on every worker on return."""
    fields = rules.changed_fields(changes)
    with transaction.atomic():
        if "custom_code" in fields:
            namespace.hold_domain_of(parse_public_id(public_id))
        link = get_link(owner, public_id, lock=True)
        rules.refuse_immutable(link, changes)
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
                raise rules.refused_destination(refused)
            return
        except IntegrityError as error:
            if custom_code is not None and namespace.is_taken(error, custom_code):
                # The hold of a deleted link may be over; asked only now, as codes are rarely taken.
                if hold_freed or not namespace.free_lapsed_hold(
                    domain_id=link.domain_id, code=custom_code, owner_id=link.owner_id
                ):
                    raise rules.code_taken(custom_code) from None
                hold_freed = True
            elif is_domain_gone(error):
                raise rules.no_domain() from None
            elif not namespace.is_taken(error, link.short_code):
                raise


def _rename(link: Link, custom_code: str | None) -> None:
    rules.refuse_reserved(custom_code)
    # Takes before it gives: two links that want each other's codes would wait for each other the other way round.
    if custom_code is not None and not namespace.take_custom_code(
        domain_id=link.domain_id, code=custom_code, link_id=link.pk, owner_id=link.owner_id
    ):
        raise rules.code_taken(custom_code)
    if link.custom_code is not None:
        namespace.renounce_custom_code(domain_id=link.domain_id, code=link.custom_code, link_id=link.pk)


def _domain(owner: User, domain_id: str | None) -> Domain | None:
    if domain_id is None or domain_id == BASE_ID:
        return None
    domain = usable_domain(owner, domain_id)
    if domain is None:
        raise rules.no_domain()
    return domain
