"""Many links in one call, each with its own result; items fail independently.

A verdict is the resulting link, or the error that a single call would raise. Each SQL statement covers all items, or a
group of links with rules or a split.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import orjson
from django.db import connection

from accounts.history import name_author
from accounts.models import User, Workspace
from common.database import execute, fetch, in_one_transaction
from common.errors import MAX_REPORTED, FieldError, InvalidFields, NotFound, ServiceError
from common.host import cache_versions
from common.ids import parse_public_id
from common.rest.envelope import ResponseWarning, error_body, shown_warnings
from links import rules
from links.bulk.creation import Drafting
from links.bulk.finding import find_or_store
from links.code_claims import CodeKey, CustomCode, claim_custom_codes, codes_of, turn_into_aliases
from links.errors import CodeTaken, url_not_found
from links.key_limits import condition_of
from links.models import Link
from links.selectors import reload_bans
from links.storage.columns import CHANGEABLE, Column, is_plain, statement_groups
from links.storage.deletion import delete_locked_links
from links.storage.insert import Draft
from links.storage.unique_values import refused_values, unique_values, with_free_values
from links.storage.update import Columns, RouteChange, changed_columns_of_each
from links.utm_templates.services import Templates

MAX_ERRORS = 1_000

Outcome = TypeVar("Outcome")


class NothingDeleted(NotFound):
    """None of the links to delete exists. ``data`` has a result for each, as in a success."""

    message = "None of these URLs was found."

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.data = data


def results_of_items(
    outcomes: Sequence[Outcome | ServiceError],
    show: Callable[[int, Outcome], Mapping[str, Any]],
    *,
    done: str,
    warnings: Mapping[int, list[ResponseWarning]] | None = None,
    status: int = 200,
    found: Container[int] = (),
    name: str = "index",
    first: int = 0,
    **extra: Any,
) -> dict[str, Any]:
    """The values of a response: one result per item, numbered from ``first``, and their counts.

    An error has the body that a single call would return.

    ``warnings`` are those of the successful items, by position. ``found`` are the positions of those that were done
    already.

    Once the response contains MAX_ERRORS field errors, each further failed item shows only its first; likewise for
    warnings.
    """
    results: list[dict[str, Any]] = []
    errors = warned = 0
    for position, outcome in enumerate(outcomes):
        if isinstance(outcome, ServiceError):
            body = error_body(outcome) if errors < MAX_ERRORS else error_body(outcome, max_errors=1)
            errors += len(body.get("errors", ()))
            results.append({name: position + first, "status": outcome.status, **body})
        else:
            result: dict[str, Any] = {
                name: position + first,
                "success": True,
                "status": 200 if position in found else status,
                "url": show(position, outcome),
            }
            if warnings and (noted := warnings.get(position)):
                result |= shown_warnings(noted, most=MAX_REPORTED if warned < MAX_ERRORS else 1)
                warned += len(result["warnings"])
            results.append(result)
    succeeded = sum(not isinstance(outcome, ServiceError) for outcome in outcomes)
    counts = {"results": results, "succeeded": succeeded, "failed": len(results) - succeeded}
    return {"message": f"{succeeded} of {len(results)} URLs {done}.", **extra, **counts}


MAX_ITEMS = 1_000

Verdict = Link | ServiceError
Result = TypeVar("Result")

# Ordered by id, as every statement that locks several links, to prevent deadlocks.
_LOCK = """
SELECT l.id, l.public_id FROM links_link l WHERE l.owner_id = %(owner)s AND l.public_id = ANY(%(public_ids)s) {limits}
ORDER BY l.id FOR UPDATE
"""


class Creations(NamedTuple):
    """``found`` has the positions of the links that existed already, or that an earlier item created."""

    verdicts: list[Verdict]
    found: set[int]


def create_links(
    *, owner: Workspace, creator: User | None = None, items: Iterable[Mapping[str, Any] | ServiceError]
) -> Creations:
    """Create a link from each item: the fields of a single creation, or the error of an earlier validation.

    An item that looks for a link may find one instead.
    """
    drafting = Drafting(owner, creator)
    outcomes = find_or_store(owner, [_attempt(item, drafting.draft) for item in items])
    return Creations(
        [outcome.link if isinstance(outcome, Draft) else outcome for outcome in outcomes],
        {position for position, outcome in enumerate(outcomes) if isinstance(outcome, Link)},
    )


def update_links(*, owner: Workspace, items: Iterable[Mapping[str, Any] | ServiceError]) -> list[Verdict]:
    """Update a link for each item, which has its ``public_id`` and changes. Later items with the same id fail."""
    seen: set[UUID] = set()
    given = list(items)
    templates = Templates(owner, changed=[item["public_id"] for item in given if isinstance(item, Mapping)])
    changes = [
        _attempt(item, lambda fields: _change(templates.apply(fields, fields["public_id"]), seen))
        for item in given
    ]
    valid = {index: change for index, change in enumerate(changes) if isinstance(change, Change)}
    verdicts, codes = with_free_values(lambda: _update(valid, owner)) if valid else ({}, [])
    cache_versions.bump(codes=codes)
    return [
        change if isinstance(change, ServiceError) else verdicts[index]
        for index, change in enumerate(changes)
    ]


def delete_links(*, owner: Workspace, public_ids: Sequence[str]) -> list[UUID | ServiceError]:
    """Delete links and return their ids or errors. The codes are reserved, as after a single deletion."""
    identifiers = [parse_public_id(text) for text in public_ids]
    valid = [identifier for identifier in identifiers if identifier is not None]
    deleted, codes = in_one_transaction(lambda: _delete(owner, valid))
    cache_versions.bump(codes=codes)
    verdicts: list[UUID | ServiceError] = []
    for public_id in identifiers:
        # The second occurrence of an id is not found.
        is_deleted = public_id in deleted
        deleted.discard(public_id)
        verdicts.append(public_id if public_id is not None and is_deleted else url_not_found())
    return verdicts


def _update(changes: Mapping[int, Change], owner: Workspace) -> tuple[dict[int, Verdict], list[str]]:
    name_author()
    verdicts = apply_changes(changes, owner)
    changed = [verdict.pk for verdict in verdicts.values() if isinstance(verdict, Link)]
    return verdicts, codes_of(*changed)


def _delete(owner: Workspace, public_ids: list[UUID]) -> tuple[set[UUID | None], list[str]]:
    name_author()
    limits, values = condition_of(owner.key)
    locked = dict(fetch(_LOCK.format(limits=limits), {**values, "owner": owner.pk, "public_ids": public_ids}))
    return set(locked.values()), delete_locked_links(list(locked))


def _change(fields: dict[str, Any], seen: set[UUID]) -> Change:
    identifier = parse_public_id(fields.pop("public_id"))
    if identifier is None:
        raise url_not_found()
    if identifier in seen:
        raise InvalidFields(
            [FieldError("_id", "duplicate", "Duplicate: this URL appears earlier in the request.")]
        )
    seen.add(identifier)
    return Change(identifier, fields, rules.column_values(fields))


def _attempt(item: Any, make: Callable[[Any], Result]) -> Result | ServiceError:
    if isinstance(item, ServiceError):
        return item
    try:
        return make(item)
    except ServiceError as refusal:
        return refusal


# Runs before the links are locked: the deletion of a domain locks the domain and then its links.
_LOCK_DOMAINS = """
SELECT FROM domains_domain WHERE id = ANY(ARRAY(
    SELECT domain_id FROM links_link WHERE public_id = ANY(%(public_ids)s)
)) ORDER BY id FOR KEY SHARE
"""
_WRITTEN = (*CHANGEABLE, Column("updated_at", "timestamptz"))
# Writes all columns: the rows are locked and were read after that, so unchanged columns keep their values.
_UPDATE = f"""
UPDATE links_link l SET {", ".join(f"{column.name} = new.{column.name}" for column in _WRITTEN)}
FROM jsonb_to_recordset(%(rows)s::jsonb) new (
    id bigint, {", ".join(f"{column.name} {column.sql_type}" for column in _WRITTEN)}
)
WHERE l.id = new.id
"""  # noqa: S608 # composed of constants


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one link: ``fields`` are its new column values, and ``sent`` are the fields of the request.

    A call has at most one change of a link.
    """

    public_id: UUID
    sent: dict[str, Any]
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _PlannedChange:
    link: Link
    fields: dict[str, Any]

    @property
    def code(self) -> str | None:
        """The custom code after the change."""
        code: str | None = self.fields.get("custom_code", self.link.custom_code)
        return code

    @property
    def new_values(self) -> dict[str, Any]:
        """The unique values that the change sets."""
        former = unique_values(self.link)
        return {
            name: self.fields[name] for name in former if self.fields.get(name, former[name]) != former[name]
        }

    @property
    def renames(self) -> bool:
        return self.code != self.link.custom_code


def apply_changes(changes: Mapping[int, Change], owner: Workspace) -> dict[int, Link | ServiceError]:
    """Return the changed link or the error for each change, by its key."""
    links = _lock_links(owner, changes.values())
    plans: dict[int, _PlannedChange] = {}
    refused: dict[int, ServiceError] = {}
    routes = changed_columns_of_each({
        key: RouteChange(links[change.public_id], change.sent)
        for key, change in changes.items()
        if change.public_id in links
    })  # fmt: skip
    for key, change in changes.items():
        try:
            plans[key] = _plan(links.get(change.public_id), change, routes.get(key, {}))
        except ServiceError as refusal:
            refused[key] = refusal
    refused |= refused_values({key: plan.new_values for key, plan in plans.items()}, owner.pk, set())
    plans = {key: plan for key, plan in plans.items() if key not in refused}
    refused |= _rename({key: plan for key, plan in plans.items() if plan.renames}, owner)
    plans = {key: plan for key, plan in plans.items() if key not in refused}
    _save([plan for plan in plans.values() if plan.fields])
    reload_bans(plan.link for plan in plans.values())
    return refused | {key: plan.link for key, plan in plans.items()}


def _lock_links(owner: Workspace, changes: Iterable[Change]) -> dict[UUID, Link]:
    public_ids = [change.public_id for change in changes]
    if any("custom_code" in change.fields for change in changes):
        execute(_LOCK_DOMAINS, {"public_ids": public_ids})
    links = Link.objects.visible_to(owner).select_related("domain", "counter").with_bans()
    links = links.filter(public_id__in=public_ids)
    return {link.public_id: link for link in links.order_by("pk").select_for_update(of=("self",))}


def _plan(link: Link | None, change: Change, routes: Columns | InvalidFields) -> _PlannedChange:
    if link is None:
        raise url_not_found()
    rules.refuse_immutable(link, change.sent)
    if isinstance(routes, InvalidFields):
        raise routes
    plan = _PlannedChange(link, change.fields | routes | rules.edited_tags(link.tags, change.sent))
    if plan.renames:
        rules.refuse_new_code(plan.code)
    return plan


def _rename(plans: Mapping[int, _PlannedChange], owner: Workspace) -> dict[int, ServiceError]:
    """If several plans have the same new code, the first one gets it."""
    if not plans:
        return {}
    claims: dict[CodeKey, CustomCode] = {}
    for plan in plans.values():
        if plan.code is not None:
            code = CustomCode(plan.link.domain_id, plan.code, plan.link.pk)
            claims.setdefault((code.domain_id, code.code), code)
    successful = claim_custom_codes(list(claims.values()), owner_id=owner.pk)
    refused: dict[int, ServiceError] = {
        key: CodeTaken(plan.code)
        for key, plan in plans.items()
        if plan.code is not None and plan.link.pk not in successful
    }
    turn_into_aliases(
        [
            CustomCode(plan.link.domain_id, plan.link.custom_code, plan.link.pk)
            for key, plan in plans.items()
            if key not in refused and plan.link.custom_code is not None
        ]
    )
    return refused


def _save(plans: Sequence[_PlannedChange]) -> None:
    if not plans:
        return
    rows: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for link, fields in ((plan.link, plan.fields) for plan in plans):
        was_plain = is_plain(link)
        for name, value in {**fields, "updated_at": rules.time_of_change(link)}.items():
            setattr(link, name, value)
        row = {"id": link.pk} | {column.name: getattr(link, column.name) for column in _WRITTEN}
        rows[was_plain and is_plain(link)].append(row)
    with connection.cursor() as cursor:
        for group in (rows[True], *statement_groups(rows[False])):
            if group:
                cursor.execute(_UPDATE, {"rows": orjson.dumps(group).decode()})
