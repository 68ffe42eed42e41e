"""Conditions on values: what a filter of a report includes and excludes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

# A backslash lets a value contain a comma, or begin with a hyphen.
_PARTS = re.compile(r"((?:\\.|[^,\\])*)(?:,|$)", re.DOTALL)
MAX_VALUES = 100


class Condition(NamedTuple):
    """A value must be one of ``included``, unless there are none, and none of ``excluded``."""

    included: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def holds(self, *values: str) -> bool:
        """Whether one of the values is included, and none excluded: they are spellings of one value."""
        is_included = not self.included or any(value in self.included for value in values)
        return is_included and not any(value in self.excluded for value in values)

    def sql(self, name: str, *values: str) -> str:
        """SQL: whether the condition holds for any of the values, with parameters of this name."""
        parts = []
        for chosen, negation, suffix in (
            (self.included, "", "included"),
            (self.excluded, "NOT ", "excluded"),
        ):
            if chosen:
                any_of = " OR ".join(f"{value} = ANY(%({name}_{suffix})s::text[])" for value in values)
                parts.append(f"{negation}({any_of})")
        return " AND ".join(parts)

    def values(self, name: str) -> dict[str, Any]:
        return {f"{name}_included": list(self.included), f"{name}_excluded": list(self.excluded)}

    def map(self, convert: Callable[[str], tuple[str, ...]]) -> Condition:
        """The same condition on the values that ``convert`` returns for each of its values."""
        return Condition(
            tuple(value for part in self.included for value in convert(part)),
            tuple(value for part in self.excluded for value in convert(part)),
        )


def parse(text: str, unset: str | None = None) -> Condition:
    """Read values separated by commas; one that begins with a hyphen is excluded.

    The word ``unset`` is an empty value, unless it has a backslash. Raises ValueError for any other empty value.
    """
    included: list[str] = []
    excluded: list[str] = []
    for match in _PARTS.finditer(text):
        part = match[1]
        chosen, part = (excluded, part[1:]) if part.startswith("-") else (included, part)
        if not part:
            raise ValueError(text)
        chosen.append("" if part == unset else re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL))
        if match.end() == len(text) and not match[0].endswith(","):
            break
    return Condition(tuple(included), tuple(excluded))
