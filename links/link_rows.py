"""A link with its domain and its counter, as one row of a prepared statement.

The ORM takes longer to write such a statement than the database to execute it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS, models

from domains.models import Domain
from links.models import ClickCounter, Link


def _names(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


_LINK, _DOMAIN, _COUNTER = _names(Link), _names(Domain), _names(ClickCounter)
_JSON = [
    index for index, field in enumerate(Link._meta.concrete_fields) if isinstance(field, models.JSONField)
]
COLUMNS = ", ".join([
    *(f"l.{name}" for name in _LINK),
    *(f"d.{name}" for name in _DOMAIN),
    *(f"n.{name}" for name in _COUNTER),
])  # fmt: skip
# For a query of `COLUMNS` that names the links ``l``.
JOINS = "JOIN links_clickcounter n ON n.link_id = l.id LEFT JOIN domains_domain d ON d.id = l.domain_id"
# For a query of one link by its ``public_id``. With "=", the planner prefers an index of the owner before the first
# ANALYZE, and such a plan reads all links of the owner.
IS_OWNER = "IS NOT DISTINCT FROM %(owner)s"


def link_of(row: Sequence[Any]) -> Link:
    """``row`` has the values of `COLUMNS`."""
    values = list(row[: len(_LINK)])
    for index in _JSON:
        if values[index] is not None:
            values[index] = orjson.loads(values[index])
    link: Link = Link.from_db(DEFAULT_DB_ALIAS, _LINK, values)
    of_domain, of_counter = row[len(_LINK) : -len(_COUNTER)], row[-len(_COUNTER) :]
    link._state.fields_cache |= {
        "domain": Domain.from_db(DEFAULT_DB_ALIAS, _DOMAIN, of_domain)
        if link.domain_id is not None
        else None,
        "counter": ClickCounter.from_db(DEFAULT_DB_ALIAS, _COUNTER, of_counter),
    }
    return link
