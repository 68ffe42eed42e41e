"""The OpenAPI description of the endpoints under /api/tags and /api/tag-changes."""

from __future__ import annotations

from accounts import admission
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.rest.pagination import TOO_DEEP
from links.models import UNDO_DAYS, TagAction, TagChangeStatus
from links.tags.changes import NotUndoable, TagExists, TagsBusy

name_choices("TagAction", TagAction.values)
name_choices("TagChangeStatus", TagChangeStatus.values)
_CONTINUES = (
    " With many links, the `change` is still `running` after the call, and the service finishes it within minutes."
    f" It can be undone for {UNDO_DAYS} days."
)
_TOO_DEEP = invalid("page", "too_deep", TOO_DEEP)
_BLANK = invalid("name", "blank_tag", "A tag must not be blank.")

describe_tags = describe(
    "Tags",
    of="tag",
    retrieve=Operation("getTag", "Read a tag.", "The tag.", description="Its colour and its numbers."),
    partial_update=Operation(
        "updateTag",
        "Rename or merge a tag, or set its colour.",
        "The tag with its new name, and the change of its links.",
        description="All links get the new name, and saved views, too." + _CONTINUES,
        examples=[{"color": "#2F855A"}],
        errors=[_BLANK, TagExists("spring"), TagsBusy(), admission.TOO_MANY_CALLS],
    ),
    destroy=Operation(
        "deleteTag",
        "Take a tag off all links.",
        "The change of its links.",
        description="The links stay." + _CONTINUES,
        errors=[TagsBusy(), admission.TOO_MANY_CALLS],
    ),
)
describe_tag_changes = describe(
    "Tags",
    of="change",
    list=Operation(
        "listTagChanges",
        f"List the renamed, merged and deleted tags of the last {UNDO_DAYS} days.",
        "One page, newest first; empty past the last page.",
        description="Those that can be undone are `done`.",
        errors=[_TOO_DEEP],
    ),
    retrieve=Operation(
        "getTagChange",
        "Read how far the change of a tag is.",
        "The change.",
        description="Its status and numbers.",
    ),
    undo=Operation(
        "undoTagChange",
        "Undo the change of a tag.",
        "The change.",
        description="Its links get their former tags, except those whose tags have been changed since.",
        errors=[NotUndoable(), TagsBusy(), admission.TOO_MANY_CALLS],
    ),
)
