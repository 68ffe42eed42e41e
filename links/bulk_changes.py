"""Changes of many links at once, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.utils import timezone

from accounts.models import User
from common.errors import ServiceError
from links import namespace, rules
from links.columns import columns
from links.models import Link
from links.selectors import fetch

# Before the links are locked, as whoever deletes a domain holds it and then wants its links.
_HOLD_DOMAINS = """
SELECT FROM domains_domain WHERE id = ANY(ARRAY(
    SELECT domain_id FROM links_link WHERE public_id = ANY(%(public_ids)s)
)) ORDER BY id FOR KEY SHARE
"""
# A code of the link's own is taken up again, as in a single rename.
_TAKE = """
INSERT INTO links_code AS c (domain_id, code, kind, link_id)
SELECT domain_id, code, 'custom', link_id
FROM unnest(%(domains)s::bigint[], %(codes)s::text[], %(links)s::bigint[]) wanted (domain_id, code, link_id)
ORDER BY code COLLATE "C", domain_id NULLS FIRST
ON CONFLICT (domain_id, code) DO UPDATE
    SET kind = CASE c.kind WHEN 'short' THEN 'short' ELSE 'custom' END
    WHERE c.link_id = EXCLUDED.link_id AND c.kind <> 'reserved'
RETURNING link_id
"""
_RENOUNCE = """
UPDATE links_code c SET kind = 'alias'
FROM unnest(%(domains)s::bigint[], %(codes)s::text[], %(links)s::bigint[]) given (domain_id, code, link_id)
WHERE c.link_id = given.link_id AND c.domain_id IS NOT DISTINCT FROM given.domain_id AND c.code = given.code
  AND c.kind = 'custom'
"""
_TYPES = {
    "custom_code": "text",
    "title": "text",
    "description": "text",
    "tags": "text[]",
    "tag_keys": "text[]",
    "is_active": "boolean",
    "expires_at": "timestamptz",
    "password": "text",
    "utm": "jsonb",
    "max_clicks": "integer",
    "allowed_countries": "text[]",
    "blocked_countries": "text[]",
    "allowed_devices": "text[]",
    "redirect_type": "smallint",
    "updated_at": "timestamptz",
}
# The rows are locked and were read since, so that what did not change is written as it is.
_UPDATE = f"""
UPDATE links_link l SET {", ".join(f"{name} = new.{name}" for name in _TYPES)}
FROM jsonb_to_recordset(%(rows)s::jsonb) new (
    id bigint, {", ".join(f"{name} {kind}" for name, kind in _TYPES.items())}
)
WHERE l.id = new.id
"""  # noqa: S608 # put together from constants


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a link. No other change of the call is of the same."""

    public_id: UUID
    given: dict[str, Any]
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    link: Link
    fields: dict[str, Any]

    @property
    def code(self) -> str | None:
        """The custom code that it is to have."""
        code: str | None = self.fields.get("custom_code", self.link.custom_code)
        return code

    @property
    def renames(self) -> bool:
        return self.code != self.link.custom_code


def apply_changes(changes: Mapping[int, Change], owner: User) -> dict[int, Link | ServiceError]:
    """The links as they are now, or what they were refused for, by the keys of their changes."""
    links = _locked(owner, changes.values())
    plans: dict[int, _Plan] = {}
    refused: dict[int, ServiceError] = {}
    for key, change in changes.items():
        try:
            plans[key] = _plan(links.get(change.public_id), change)
        except ServiceError as refusal:
            refused[key] = refusal
    refused |= _rename({key: plan for key, plan in plans.items() if plan.renames}, owner)
    plans = {key: plan for key, plan in plans.items() if key not in refused}
    _save([plan for plan in plans.values() if plan.fields])
    return refused | {key: plan.link for key, plan in plans.items()}


def _locked(owner: User, changes: Iterable[Change]) -> dict[UUID, Link]:
    public_ids = [change.public_id for change in changes]
    if any("custom_code" in change.fields for change in changes):
        with connection.cursor() as cursor:
            cursor.execute(_HOLD_DOMAINS, {"public_ids": public_ids})
    links = Link.objects.select_related("domain").filter(owner=owner, public_id__in=public_ids)
    return {link.public_id: link for link in links.order_by("pk").select_for_update(of=("self",))}


def _plan(link: Link | None, change: Change) -> _Plan:
    if link is None:
        raise rules.no_url()
    rules.refuse_immutable(link, change.given)
    plan = _Plan(link, change.fields)
    if plan.renames:
        rules.refuse_reserved(plan.code)
    return plan


def _rename(plans: Mapping[int, _Plan], owner: User) -> dict[int, ServiceError]:
    """Of those who want the same code, the first gets it."""
    if not plans:
        return {}
    wanted: dict[tuple[int | None, str], int] = {}
    for plan in plans.values():
        if plan.code is not None:
            wanted.setdefault((plan.link.domain_id, plan.code), plan.link.pk)
    rows = [(domain_id, code, link) for (domain_id, code), link in wanted.items()]
    taking = columns("domains codes links", rows)
    namespace.free_lapsed_holds(wanted, owner_id=owner.pk)
    got = {link for (link,) in fetch(_TAKE, taking)}
    refused: dict[int, ServiceError] = {
        key: rules.code_taken(plan.code)
        for key, plan in plans.items()
        if plan.code is not None and plan.link.pk not in got
    }
    given_up = [
        (plan.link.domain_id, plan.link.custom_code, plan.link.pk)
        for key, plan in plans.items()
        if key not in refused and plan.link.custom_code is not None
    ]
    with connection.cursor() as cursor:
        cursor.execute(_RENOUNCE, columns("domains codes links", given_up))
    return refused


def _save(plans: Sequence[_Plan]) -> None:
    if not plans:
        return
    now = timezone.now()
    rows = []
    for plan in plans:
        for name, value in {**plan.fields, "updated_at": now}.items():
            setattr(plan.link, name, value)
        rows.append({"id": plan.link.pk} | {name: getattr(plan.link, name) for name in _TYPES})
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE, {"rows": orjson.dumps(rows).decode()})
