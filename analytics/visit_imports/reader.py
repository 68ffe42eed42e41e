"""Reads files of visits, and adds them up by short link and day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import TextIO

from analytics.visit_imports.layouts import LAYOUTS, Layout
from common.errors import InvalidFields
from links.transfer.import_files import Unreadable, raw_rows

# Refused rows that are kept for the report.
MAX_REFUSALS = 100

# Host and code. The host is None if the file does not contain it.
ShortLink = tuple[str | None, str]


@dataclass(slots=True)
class Visits:
    """``uncounted``: bots, events and visits of no link. ``refusals`` has the first refused rows and their errors."""

    layout: str
    rows: int = 0
    uncounted: int = 0
    refused: int = 0
    refusals: list[tuple[int, InvalidFields]] = field(default_factory=list)
    days: dict[ShortLink, Counter[date]] = field(default_factory=dict)


def read_visits(
    file: TextIO,
    layout: str | None = None,
    code: str | None = None,
    report: Callable[[], None] = lambda: None,
) -> Visits:
    """Read the whole file. ``code``: the short link of rows that name none. Calls ``report`` after each row.

    Raises Unreadable if the file has no rows or an unknown layout.
    """
    rows, _ = raw_rows(file)
    visits, chosen = Visits(layout or ""), _named(layout)
    for row in rows:
        visits.rows += 1
        if isinstance(row, InvalidFields):
            if chosen is None:
                raise Unreadable(row.errors[0].code, row.errors[0].message)
            _refuse(visits, row)
        else:
            if chosen is None:
                chosen = _detected(frozenset(row))
                visits.layout = chosen.name
            try:
                visit = chosen.visit(row)
            except InvalidFields as refusal:
                _refuse(visits, refusal)
            else:
                named = visit.code or code if visit is not None else None
                if visit is None or not named:
                    visits.uncounted += 1
                else:
                    visits.days.setdefault((visit.host, named), Counter())[visit.day] += 1
        report()
    if not visits.rows:
        raise Unreadable("empty", "The file contains no visits.")
    return visits


def combined(parts: Iterable[Visits]) -> Visits:
    """Add up the visits of several files. Their refusals stay with the parts: row numbers differ by file."""
    total, layouts = Visits(""), set()
    for part in parts:
        layouts.add(part.layout)
        total.rows += part.rows
        total.uncounted += part.uncounted
        total.refused += part.refused
        for short_link, days in part.days.items():
            total.days.setdefault(short_link, Counter()).update(days)
    total.layout = ", ".join(sorted(layouts))
    return total


def _refuse(visits: Visits, refusal: InvalidFields) -> None:
    visits.refused += 1
    if len(visits.refusals) < MAX_REFUSALS:
        visits.refusals.append((visits.rows, refusal))


def _named(name: str | None) -> Layout | None:
    return next((layout for layout in LAYOUTS if layout.name == name), None)


def _detected(keys: frozenset[str]) -> Layout:
    for layout in LAYOUTS:
        if any(signature <= keys for signature in layout.signatures):
            return layout
    raise Unreadable(
        "unknown_format", "Unrecognised format: these are not visits of YOURLS, Shlink or GoatCounter."
    )
