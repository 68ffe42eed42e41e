from __future__ import annotations

from typing import Any

from common.openapi.responses import Representation, choice, count, moment, public_id, text
from links.models import TagAction, TagChangeStatus
from links.tags.listing import TagRow

tag = Representation(
    "Tag",
    text("name", "name", "spring"),
    text("color", "color", "#2F855A", "Null: none was chosen.", allow_null=True),
    count("linkCount", "links", 12),
    count(
        "clickCount",
        "clicks",
        340,
        "All clicks so far of the links that have the tag now. Only with `clicks=true`.",
    ).optional(),
)
tag_change = Representation(
    "TagChange",
    public_id("019a9e3e-7c10-7d3b-8e21-0b9c4d5e6f70"),
    choice("action", "action", TagAction.values, TagAction.RENAMED.value),
    text("name", "name", "sping", "The former tag."),
    text("newName", "new_name", "spring", "Null: the tag was deleted.", allow_null=True),
    choice(
        "status",
        "status",
        TagChangeStatus.values,
        TagChangeStatus.DONE.value,
        "While it is `running` or `undoing`, the service goes on by itself.",
    ),
    count("linkCount", "links", 12, "The links that it has changed so far."),
    count("restoredCount", "restored", 0, "The links that its undoing has changed back so far."),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment("undoableUntil", "undoable_until", "2030-03-08T09:30:00.123456Z"),
)


def shown_tag(row: TagRow) -> dict[str, Any]:
    return tag.only(tag.names if row.clicks is not None else tag.names - {"clickCount"}, row)
