"""The columns and rows of files: of a report, which is flattened, of the log of requests, and of unknown codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from uuid import UUID

from rest_framework import fields
from rest_framework.serializers import BaseSerializer

from analytics.dimensions import UNKNOWN
from analytics.models import Kind
from analytics.reports.click_log import ClickLog
from analytics.reports.missed_codes import MissedCode
from analytics.reports.selected import OTHER
from analytics.representations import listed_tag, logged_click, missed_code, unknown_codes_of_date
from common.rest.fields import DateTime

# The requests that a file reads at once.
BATCH = 5_000

Type = Literal["text", "integer", "flag", "moment"]
# In the order of the columns. A moment is a text as in the API.
Row = tuple[Any, ...]


class Column(NamedTuple):
    name: str
    type: Type


class Table(NamedTuple):
    """``clicks`` counts those of some rows."""

    columns: Sequence[Column]
    batches: Iterable[Sequence[Row]]
    clicks: Callable[[Sequence[Row]], int]


_TOTAL = "totalClicks"
REPORT_COLUMNS = (
    Column("part", "text"),
    Column("value", "text"),
    Column("name", "text"),
    Column("url", "text"),
    Column("clicks", "integer"),
    Column("uniqueClicks", "integer"),
    Column("isRest", "flag"),
    Column("isUnset", "flag"),
)


def report_table(data: Mapping[str, Any]) -> Table:
    """The rows of a report of the API: for each list one row for each value, in the spelling of the filters.

    Each list adds up to the clicks of the report, so these are the clicks of the file.
    """
    return Table(REPORT_COLUMNS, [list(_rows(data))], _report_clicks)


def _rows(data: Mapping[str, Any], prefix: str = "") -> Iterator[Row]:
    for key, content in data.items():
        part = f"{prefix}{key}"
        if isinstance(content, list):
            yield from (_row(part, entry) for entry in content)
        elif key == "compared":
            yield from _rows(content, f"{part}.")
        elif key == "otherUrls":
            yield part, None, None, None, content["clicks"], content["uniqueClicks"], True, False
        elif key in {"notCounted", "refused"}:
            yield from (
                (part, name, None, None, requests, None, False, False) for name, requests in content.items()
            )
        elif isinstance(content, int) and key != "uniqueClicks":
            unique = data["uniqueClicks"] if key == _TOTAL else None
            yield part, None, None, None, content, unique, False, False


def _row(part: str, entry: Mapping[str, Any]) -> Row:
    """The first key of an entry has its value. Some have a name, too, and a city has its country."""
    value, name = str(next(iter(entry.values()))), entry.get("title", entry.get("name"))
    country = entry.get("country", value)
    if country not in {value, OTHER, UNKNOWN}:
        value, name = f"{country} {value}", None
    url = entry.get("shortUrl", entry.get("url"))
    marks = entry.get("isRest", False), entry.get("isUnset", False)
    return (
        part,
        value,
        None if name == value else name,
        url,
        entry["clicks"],
        entry.get("uniqueClicks"),
        *marks,
    )


def _report_clicks(rows: Sequence[Row]) -> int:
    """The clicks of a report are its total, or those of its first list."""
    first = rows[0][0] if rows else ""
    return sum(row[4] for row in rows if row[0] == first)


def _columns(schema: Mapping[str, fields.Field[Any, Any, Any, Any]]) -> Iterator[tuple[Column, list[str]]]:
    """The columns, and where the object of the API has their values. An object within it becomes several columns."""
    for name, field in schema.items():
        if isinstance(field, BaseSerializer):
            for inner, path in _columns(field.fields):  # type: ignore[attr-defined] # not a list
                key = inner.name.removeprefix("_")
                yield inner._replace(name=f"{name}{key[0].upper()}{key[1:]}"), [name, *path]
        else:
            type_: Type = "text"
            if isinstance(field, DateTime):
                type_ = "moment"
            elif isinstance(field, fields.BooleanField):
                type_ = "flag"
            elif isinstance(field, fields.IntegerField):
                type_ = "integer"
            yield Column(name, type_), [name]


_OF_LOG = list(_columns(logged_click.serializer().fields))
LOG_COLUMNS = [column for column, _ in _OF_LOG]
_KIND = [column.name for column in LOG_COLUMNS].index("kind")
_CLICK = Kind.CLICK.name.lower()


def log_table(log: ClickLog) -> Table:
    """The rest of a log, in batches: each is a short statement, and the process holds no more than one of them."""

    def batches() -> Iterator[list[Row]]:
        while log.position is not None:
            yield [_logged(logged_click(click)) for click in log.read(BATCH)]

    return Table(LOG_COLUMNS, batches(), lambda rows: sum(row[_KIND] == _CLICK for row in rows))


def _logged(click: Mapping[str, Any]) -> Row:
    return tuple(_at(click, path) for _, path in _OF_LOG)


_OF_CODES = list(_columns(missed_code.serializer().fields))
CODE_COLUMNS = [column for column, _ in _OF_CODES]
_OF_DAYS = list(_columns(unknown_codes_of_date.serializer().fields))
CODE_DAY_COLUMNS = [column for column, _ in _OF_DAYS]


_OF_TAGS = list(_columns(listed_tag.serializer().fields))
TAG_COLUMNS = [column for column, _ in _OF_TAGS]
_TAG_CLICKS = [column.name for column in TAG_COLUMNS].index("clicks")


def tag_table(tags: Iterable[Mapping[str, Any]]) -> Table:
    """Tags as their list has them. A click on a link with several tags counts for each of them."""
    rows = [tuple(tag.get(column.name) for column in TAG_COLUMNS) for tag in tags]
    return Table(TAG_COLUMNS, [rows], lambda some: sum(row[_TAG_CLICKS] or 0 for row in some))


def code_table(batches: Iterable[Sequence[MissedCode]]) -> Table:
    """Codes that no link has. Their hits are no clicks."""
    rows = ([_code(missed_code(code)) for code in batch] for batch in batches)
    return Table(CODE_COLUMNS, rows, _no_clicks)


def code_day_table(days: Sequence[Mapping[str, Any]]) -> Table:
    return Table(CODE_DAY_COLUMNS, [[tuple(day.values()) for day in days]], _no_clicks)


def _code(code: Mapping[str, Any]) -> Row:
    values = (_at(code, path) for _, path in _OF_CODES)
    return tuple(str(value) if isinstance(value, UUID) else value for value in values)


def _no_clicks(rows: Sequence[Row]) -> int:
    return 0


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = None if value is None else value[name]
    return value
