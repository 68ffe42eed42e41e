"""Writes to links. Each is one statement or one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from accounts.callers import require_scope
from accounts.caps import charged_workspaces
from accounts.code_styles import DEFAULT_STYLE, CodeStyle
from accounts.history import last_change, name_author
from accounts.models import User, Workspace
from accounts.rights import Scope, links_per_month
from common.bounded_cache import BoundedCache
from common.database import constraint_savepoint, in_one_transaction
from common.errors import FieldError, InvalidFields, NotFound, PreconditionFailed, ServiceError
from common.host import cache_versions
from common.http.short_urls import BASE_ID
from common.http.urls import Destination
from common.ids import parse_public_id
from links import code_claims, existing, rules
from links.codes import generate_code
from links.errors import (
    AnotherVersion,
    ChangedMeanwhile,
    CodeTaken,
    LinkExists,
    NoVersion,
    ValueTaken,
    domain_not_found,
    url_not_found,
)
from links.key_limits import usable_domain
from links.models import Link
from links.routing.addresses import Address, addresses_of, refuse_own_addresses
from links.selectors import get_link, reload_bans
from links.storage.deletion import delete_locked_links, undelete
from links.storage.insert import insert_link, is_domain_conflict
from links.storage.quotas import spend_quota
from links.storage.unique_values import has_unique_values, refusing_taken_values, unique_values
from links.storage.update import changed_columns, update_columns
from links.utm_templates.services import Templates


def create_link(*, owner: Workspace, **fields: Any) -> Link:
    """Create a link, which works on every worker on return. ``fields`` are those of `_new_link`.

    Raises Conflict, NotFound, InvalidFields or QuotaExceeded, and then writes nothing.
    """
    link, _, addresses = _new_link(owner, **fields)
    _store(owner, link, addresses)
    return link


def find_or_create_link(*, owner: Workspace, **fields: Any) -> tuple[Link, bool]:
    """The link of `links.existing.find_equal`, or a new one. Returns it, and whether it is new.

    Of parallel calls, one creates the link. Raises as `create_link` does, ScopeRequired if the key may not read links,
    and InvalidFields with a password.
    """
    require_scope(owner, Scope.URLS_READ)
    existing.refuse_password(fields)
    link, given, addresses = _new_link(owner, **fields)

    def work() -> tuple[Link, bool]:
        existing.lock_destinations([link])
        found = existing.find_equal(link, given)
        if found is not None:
            return found, False
        _store(owner, link, addresses)
        return link, True

    return in_one_transaction(work)


def _new_link(
    owner: Workspace,
    *,
    destination: Destination,
    creator: User | None = None,
    domain_id: str | None = None,
    password_hash: str | None = None,
    **fields: Any,
) -> tuple[Link, Mapping[str, Any], list[Address]]:
    """An unsaved link, its fields with those of its template, and its URLs. ``password_hash`` is that of another."""
    fields = Templates(owner).apply({**fields, "destination": destination})
    addresses = addresses_of(fields)
    del fields["destination"]
    refuse_own_addresses(addresses)
    domain = usable_domain(owner, domain_id)
    rules.refuse_reserved(fields.get("custom_code"))
    link = rules.new_link(owner=owner, creator=creator, domain=domain, destination=destination, **fields)
    if password_hash is not None:
        link.password = password_hash
    return link, fields, addresses


def _store(owner: Workspace, link: Link, addresses: Sequence[Address]) -> None:
    quota, custom_code = links_per_month(owner.plan), link.custom_code

    def work() -> None:
        if quota:
            spend_quota(owners=charged_workspaces(owner), quota=quota)
        _insert(link, addresses)

    # If the plan has a quota, charge it in the same transaction, so that a refused link uses none of it. A statement
    # that waits for a unique value and for a code can deadlock with another one, and is then repeated.
    with refusing_taken_values():
        if quota or has_unique_values(unique_values(link)):
            in_one_transaction(work)
        else:
            work()
    cache_versions.bump(new_codes=[link.short_code, custom_code or link.short_code])


def update_link(
    *, owner: Workspace, public_id: str, changes: dict[str, Any], versions: Sequence[datetime] | None = None
) -> Link:
    """Change all of these fields, or none. The change is in force on every worker on return.

    ``versions``: the accepted times of the link's last change. Raises ChangedMeanwhile if it has another one.
    """
    changes = Templates(owner, changed=[public_id]).apply(changes, public_id)
    fields = rules.column_values(changes)
    if fields and rules.INDEPENDENT.issuperset(changes):
        return _update_columns(owner, public_id, fields, versions, prepare=len(changes) == 1)

    def work() -> tuple[Link, list[str]]:
        name_author()
        if "custom_code" in fields:
            code_claims.lock_domain_of(parse_public_id(public_id))
        link = get_link(owner, public_id, lock=True)
        if versions is not None and link.updated_at not in versions:
            raise _changed_meanwhile(link, versions)
        rules.refuse_immutable(link, changes)
        values = fields | changed_columns(link, changes)
        if "custom_code" in values and values["custom_code"] != link.custom_code:
            _rename(link, values["custom_code"])
        if not values:
            return link, []
        for name, value in {**values, "updated_at": rules.time_of_change(link)}.items():
            setattr(link, name, value)
        link.save(update_fields=[*values, "updated_at"])
        reload_bans([link])
        return link, code_claims.codes_of(link.pk)

    with refusing_taken_values():
        link, codes = in_one_transaction(work)
    if codes:
        cache_versions.bump(codes=codes)
    return link


# Each further one needs another call that creates or deletes the link at the same moment.
_UPSERTS = 4


def upsert_link(
    *,
    owner: Workspace,
    destination: Destination,
    external_id: str,
    creator: User | None = None,
    versions: Sequence[datetime] | None = None,
    only_new: bool = False,
    **fields: Any,
) -> tuple[Link, bool]:
    """Create the workspace's link with this ``external_id``, or change it. Returns the link, and whether it is new.

    Of a link that exists, another ``destination`` becomes the target; its domain cannot change. The unique index
    decides which of two calls creates the link; the other one then changes it. Raises as `create_link` and
    `update_link` do, and with ``only_new`` LinkExists.
    """
    refusal: ServiceError
    for _ in range(_UPSERTS):
        link = Link.objects.filter(owner=owner, external_id=external_id).select_related("domain").first()
        if link is None:
            if versions is not None:
                raise NoVersion
            new = {"destination": destination, "external_id": external_id, **fields}
            try:
                return create_link(owner=owner, creator=creator, **new), True
            except ValueTaken as error:
                refusal = error
        elif only_new:
            raise LinkExists(link)
        else:
            changes = _changes_of(link, destination, fields)
            try:
                public_id = str(link.public_id)
                changed = update_link(owner=owner, public_id=public_id, changes=changes, versions=versions)
            except NotFound as error:
                refusal = error
            else:
                return changed, False
    raise refusal


def _changes_of(link: Link, destination: Destination, fields: Mapping[str, Any]) -> dict[str, Any]:
    changes = {"target_url": None if destination.text == link.original_url else destination, **fields}
    domain_id = changes.pop("domain_id", None)
    if domain_id not in (None, BASE_ID if link.domain is None else str(link.domain.public_id)):
        raise InvalidFields([FieldError("domainId", "immutable", "Cannot be changed.")])
    return changes


def delete_link(*, owner: Workspace, public_id: str, versions: Sequence[datetime] | None = None) -> None:
    """Delete a link and reserve its codes, so that no other account can take over printed short URLs.

    ``versions``: the accepted times of the link's last change. Raises ChangedMeanwhile if it has another one.
    """

    def work() -> list[str]:
        name_author()
        link = get_link(owner, public_id, lock=True)
        if versions is not None and link.updated_at not in versions:
            raise _changed_meanwhile(link, versions)
        return delete_locked_links([link.pk])

    codes = in_one_transaction(work)
    cache_versions.bump(codes=codes)


def undelete_link(*, owner: Workspace, public_id: str) -> Link:
    """Bring a link back as it was, with its codes, clicks and QR codes. It works on every worker on return.

    Raises CodeTaken or ValueTaken if the owner has given a code or unique value of it to another link, or NotFound.
    """
    identifier = parse_public_id(public_id)
    if identifier is None:
        raise url_not_found()

    def work() -> tuple[Link, list[str]]:
        name_author()
        codes = undelete(identifier, owner_id=owner.pk)
        if codes is None:
            raise url_not_found()
        return get_link(owner, public_id), codes

    with refusing_taken_values():
        link, codes = in_one_transaction(work)
    cache_versions.bump(codes=codes)
    return link


# How generated codes of workspaces on domains look, if not as by default; see `insert_link`.
_known_styles: BoundedCache[tuple[int, int | None], CodeStyle] = BoundedCache(
    10_000, 2_000_000, lambda *_: 200
)


def _insert(link: Link, addresses: Sequence[Address]) -> None:
    custom_code, is_hold_released = link.custom_code, False
    key, collisions = (link.owner_id, link.domain_id), 0
    style = _known_styles.get(key) or DEFAULT_STYLE
    while True:
        link.short_code = generate_code((custom_code,), style, collisions)
        try:
            with constraint_savepoint():
                refusal = insert_link(link, addresses, style)
            if isinstance(refusal, CodeStyle):
                # The statement decides: the process may know a former setting.
                style = refusal
                _known_styles.put(key, style)
                continue
            if refusal is not None:
                raise refusal
            return
        except IntegrityError as error:
            if custom_code is not None and code_claims.is_code_conflict(error, custom_code):
                # A hold may have expired. Check only after a conflict, because conflicts are rare.
                claimed = (link.domain_id, custom_code)
                if is_hold_released or not code_claims.release_holds([claimed], owner_id=link.owner_id):
                    raise CodeTaken(custom_code) from None
                is_hold_released = True
            elif is_domain_conflict(error):
                raise domain_not_found() from None
            elif code_claims.is_code_conflict(error, link.short_code):
                collisions += 1
            else:
                raise


def _update_columns(
    owner: Workspace,
    public_id: str,
    fields: Mapping[str, Any],
    versions: Sequence[datetime] | None,
    *,
    prepare: bool,
) -> Link:
    identifier = parse_public_id(public_id)
    updated = None
    if owner.key is not None:
        # A link never enters or leaves the limits of a key, so the update cannot miss them.
        get_link(owner, public_id)
    if identifier is not None:
        with constraint_savepoint() if has_unique_values(fields) else nullcontext(), refusing_taken_values():
            updated = update_columns(
                identifier,
                fields,
                owner_id=owner.pk,
                updated_at=timezone.now(),
                versions=versions,
                prepare=prepare,
            )
    if updated is None:
        if versions is None:
            raise url_not_found()
        raise _changed_meanwhile(get_link(owner, public_id), versions)
    link, codes = updated
    cache_versions.bump(codes=codes)
    return link


def _changed_meanwhile(link: Link, versions: Sequence[datetime]) -> PreconditionFailed:
    """The history has the times of the versions, so the client knows the changes up to the newest of ``versions``."""
    if not any(link.created_at <= version < link.updated_at for version in versions):
        return AnotherVersion(link)
    change = last_change(link.owner_id, link.public_id)
    if change is not None and versions and change.changed_at <= max(versions):
        change = None
    return ChangedMeanwhile(link, change)


def _rename(link: Link, custom_code: str | None) -> None:
    rules.refuse_new_code(custom_code)
    # Claim the new code before giving up the old one: the reverse order deadlocks if two links swap codes.
    if custom_code is not None:
        claim = code_claims.CustomCode(link.domain_id, custom_code, link.pk)
        if not code_claims.claim_custom_codes([claim], owner_id=link.owner_id):
            raise CodeTaken(custom_code)
    if link.custom_code is not None:
        code_claims.turn_into_aliases([code_claims.CustomCode(link.domain_id, link.custom_code, link.pk)])
