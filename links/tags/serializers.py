from __future__ import annotations

from common.rest.fields import Boolean, ColorField, Object, QueryBoolean, Text, choice_field
from common.rest.pagination import PageQuery
from links.serializer_fields import MAX_TAG, TagField
from links.tags.representations import tag


class TagsQuery(PageQuery):
    search = Text(
        required=False,
        default="",
        allow_blank=True,
        characters=MAX_TAG,
        help_text="A part of the tag, case-insensitive.",
    )
    sortBy = choice_field(source="sort_by", choices=["name", "linkCount"], default="name")
    sortOrder = choice_field(source="sort_order", choices=["asc", "desc"], default="asc")
    clicks = QueryBoolean(
        source="with_clicks",
        default=False,
        help_text="Whether to add up the clicks, which takes seconds for a million links.",
    )


class UpdateTagSerializer(Object):
    returned = tag.names
    name = TagField(
        source="new_name", required=False, characters=MAX_TAG, help_text="The new tag, for all links."
    )
    color = ColorField(required=False, allow_null=True, help_text="Such as `#1A2B3C`. Null: none.")
    merge = Boolean(
        default=False,
        help_text="Required if the workspace has the new tag already: its links get those of this tag.",
    )
