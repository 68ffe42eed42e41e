"""Links without the ORM, which takes longer to write a statement than the database to execute it.

Trades clarity for speed: models are made from rows by the positions of their columns, without the ORM's converters.
With it, reading a link takes 29 % of the processor time. docs/adr/0008-cost-of-an-api-request.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.db import models

from common import instances
from domains.models import Domain
from links.models import ClickCounter, Link


def _names(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


_LINK, _DOMAIN, _COUNTER = _names(Link), _names(Domain), _names(ClickCounter)
_JSON = [field.attname for field in Link._meta.concrete_fields if isinstance(field, models.JSONField)]
COLUMNS = ", ".join([
    *(f"l.{name}" for name in _LINK),
    *(f"d.{name}" for name in _DOMAIN),
    *(f"n.{name}" for name in _COUNTER),
])  # fmt: skip
# The values of a new link: those of fields whose default is a function, and of all others.
_FACTORIES = {
    field.attname: field.default
    for field in Link._meta.concrete_fields
    if field.has_default() and callable(field.default)
}
_DEFAULTS = {
    field.attname: field.get_default()
    for field in Link._meta.concrete_fields
    if field.attname not in _FACTORIES
}
# For a query of `COLUMNS` that names the links ``l``.
JOINS = "JOIN links_clickcounter n ON n.link_id = l.id LEFT JOIN domains_domain d ON d.id = l.domain_id"
# For a query of one link by its ``public_id``. With "=", the planner prefers an index of the owner before the first
# ANALYZE, and such a plan reads all links of the owner.
IS_OWNER = "IS NOT DISTINCT FROM %(owner)s"


def unsaved_link(*, related: Mapping[str, models.Model | None], **columns: Any) -> Link:
    """As ``Link(...)``. ``related`` has the objects of foreign keys, whose columns it sets, too.

    Raises TypeError if there is no such column.
    """
    made = {name: make() for name, make in _FACTORIES.items()}
    keys = {f"{name}_id": None if other is None else other.pk for name, other in related.items()}
    values = {**_DEFAULTS, **made, **keys, **columns}
    if len(values) > len(_DEFAULTS) + len(_FACTORIES):
        raise TypeError(f"No columns: {sorted(values.keys() - _DEFAULTS.keys() - _FACTORIES.keys())}.")
    return instances.unsaved(Link, values, related)


def link_of(row: Sequence[Any]) -> Link:
    """``row`` has the values of `COLUMNS`."""
    values = dict(zip(_LINK, row, strict=False))
    for name in _JSON:
        if values[name] is not None:
            values[name] = orjson.loads(values[name])
    counter = instances.saved(ClickCounter, dict(zip(_COUNTER, row[-len(_COUNTER) :], strict=True)))
    domain = None
    if values["domain_id"] is not None:
        domain = instances.saved(Domain, dict(zip(_DOMAIN, row[len(_LINK) : -len(_COUNTER)], strict=True)))
    return instances.saved(Link, values, {"domain": domain, "counter": counter})
