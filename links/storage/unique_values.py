"""Fields of which each value belongs to at most one link of a workspace.

A unique index decides. Work on many links looks first, so that only the links whose value is taken fail. If another
transaction takes a value after that, the index refuses the statement, and the work is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import IntegrityError

from common.database import constraint_of, in_one_transaction
from links.errors import ValueTaken
from links.fields import UNIQUE
from links.models import Link

Result = TypeVar("Result")
# A column and a value.
UniqueValue = tuple[str, str]

_ATTEMPTS = 4


def has_unique_values(columns: Mapping[str, Any]) -> bool:
    return any(columns.get(field.column) is not None for field in UNIQUE)


def unique_values(link: Any) -> dict[str, Any]:
    return {field.column: getattr(link, field.column) for field in UNIQUE}


def refused_values(
    wanted: Mapping[int, Mapping[str, Any]], owner_id: int, claimed: set[Any]
) -> dict[int, ValueTaken]:
    """The errors of links, by their keys: another link of the owner has a value, or an earlier one wants it.

    ``wanted`` has new values by their columns. ``claimed`` has the values that earlier links got, and gets these.
    """
    refused: dict[int, ValueTaken] = {}
    for field in UNIQUE:
        values = {
            key: value for key, columns in wanted.items() if (value := columns.get(field.column)) is not None
        }
        if not values:
            continue
        links = Link.objects.filter(owner_id=owner_id, **{f"{field.column}__in": [*values.values()]})
        taken = {*links.values_list(field.column, flat=True)}
        for key, value in values.items():
            if value in taken or (field.column, value) in claimed:
                refused.setdefault(key, ValueTaken(field))
            claimed.add((field.column, value))
    return refused


@contextmanager
def refusing_taken_values() -> Iterator[None]:
    """Raises ValueTaken if the index refuses a value."""
    try:
        yield
    except IntegrityError as error:
        refusal = refusal_by_index(error)
        if refusal is None:
            raise
        raise refusal from None


def refusal_by_index(error: IntegrityError) -> ValueTaken | None:
    constraint = constraint_of(error)
    return next((ValueTaken(field) for field in UNIQUE if field.constraint == constraint), None)


def with_free_values(work: Callable[[], Result]) -> Result:
    """Run ``work``, which refuses taken values one by one, in a transaction. Raises ValueTaken after four attempts."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return in_one_transaction(work)
        except IntegrityError as error:
            if refusal_by_index(error) is None:
                raise
    with refusing_taken_values():
        return in_one_transaction(work)
