"""The search index of `links_searchable`: what it has of each link, and which part of a text to look up in it."""

from __future__ import annotations

import re

# The indexed keys of a row of `links_searchable s`.
SEARCH_KEYS = (
    "links_keys(s.owner_id, links_period(s.created_at), s.is_active, s.is_archived, s.tag_keys, s.content)"
)


def selective_part(text: str) -> str:
    """The part to look up in the index. It omits the host of a pasted URL, which an owner's links often share."""
    part = re.sub(r"(?i)^https?://(www\.)?([^/]*(?=/.{5}))?", "", text)[-32:]
    return part if len(part) > 2 else text
