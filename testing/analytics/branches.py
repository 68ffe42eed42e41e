"""Gives links branches (rules and entries of a split) at chosen times, and reads the history of the branches."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from links.models import Link, Route

Branch = dict[str, Any]
LONG_AGO = "2020-01-01T00:00Z"


def branch(number: int, name: str = "", path: str | None = None) -> Branch:
    url = f"https://example.com/{number if path is None else path}"
    return {"_id": uuid.uuid4().hex, "number": number, "name": name, "url": url, "href": url}


def set_branches(
    link: str, rules: Sequence[Branch] = (), split: Sequence[Branch] = (), *, since: str = LONG_AGO
) -> None:
    """Replace the branches of the link with this ``_id``, as if its owner had done so at ``since`` (ISO 8601)."""
    links = Link.objects.filter(public_id=link)
    routes = Route.objects.filter(link_id=links.get().pk)
    earlier = list(routes.values_list("pk", flat=True))
    ended = list(routes.exclude(until=None).values_list("pk", flat=True))
    links.update(
        rules=[{**rule, "conditions": [{"type": "scanned", "values": [], "not": False}]} for rule in rules],
        split=[{**entry, "weight": 10} for entry in split],
    )
    moment = datetime.fromisoformat(since).astimezone(UTC)
    routes.exclude(until=None).exclude(pk__in=ended).update(until=moment)
    routes.exclude(pk__in=earlier).update(since=moment)


def branch_at(link_id: int, number: int, moment: datetime) -> uuid.UUID:
    """The API id of the branch that the number had at the moment."""
    routes = Route.objects.filter(link_id=link_id, number=number, since__lte=moment)
    branch_id = routes.latest("since").branch
    assert branch_id is not None
    return branch_id
