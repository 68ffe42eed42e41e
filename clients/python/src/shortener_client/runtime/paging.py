"""From one page of a list to the next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from .body import headers_of
from .exchange import Call

# One link-value of RFC 8288: <target>; parameters. Quoted parameters may contain commas.
_LINK = re.compile(
    r"""<([^>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)"""
)
_RELATION = re.compile(r""";\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)


def next_call(call: Call, page: Mapping[str, Any]) -> Call | None:
    """The call for the page after this one, or None after the last.

    A `Link` header with `rel="next"` decides (RFC 8288), else a `nextCursor`, else the numbers of the pages. Only the
    query of the link is used: a credential never goes to another host or path.
    """
    target = _next_link(headers_of(page).get("Link", ""))
    if target is not None:
        query = urlsplit(urljoin(call.path, target)).query
        return replace(call, query=dict(parse_qsl(query, keep_blank_values=True)))
    pagination = page["data"].get("pagination", {})
    if "nextCursor" in pagination or "nextCursor" in page["data"]:
        cursor = pagination.get("nextCursor") or page["data"].get("nextCursor")
        return replace(call, query={**call.query, "cursor": cursor}) if cursor else None
    if call.query.get("cursor") is not None or pagination.get("page", 0) >= pagination.get("pages", 0):
        return None
    return replace(call, query={**call.query, "page": pagination["page"] + 1})


def _next_link(header: str) -> str | None:
    for target, parameters in _LINK.findall(header):
        relation = _RELATION.search(parameters)
        if relation and "next" in (relation[1] or relation[2]).lower().split():
            return str(target)
    return None
