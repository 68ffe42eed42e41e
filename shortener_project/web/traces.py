"""The trace of a request (W3C Trace Context), in log lines and in the SQL statements of requests that are recorded.

With `shortener_project.web.spans`, the service records its own part of the trace, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse

from common.http.client_address import is_trusted
from common.http.current_request import Trace, trace

GetResponse = Callable[[HttpRequest], HttpResponse]

# https://www.w3.org/TR/trace-context/#traceparent-header: later versions may append fields.
_FORMAT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED = 0x01
COMMENT = " /*traceparent="


def trace_of_proxy(meta: Mapping[str, Any]) -> Trace | None:
    """The trace that a trusted proxy names in the header `traceparent`; None without a valid one."""
    header: str = meta.get("HTTP_TRACEPARENT", "")
    match = _FORMAT.fullmatch(header)
    if match is None or (match[4] and header.startswith("00")):
        return None
    if not is_trusted(meta.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES):
        return None
    return Trace(match[1], match[2], is_sampled=bool(int(match[3], 16) & _SAMPLED))


def respond_within(current: Trace, get_response: GetResponse, request: HttpRequest) -> HttpResponse:
    """Respond with ``current`` in log lines and, if the trace is recorded, in statements."""
    comments = current.is_sampled and _comment not in connection.execute_wrappers
    token = trace.set(current)
    try:
        with connection.execute_wrapper(_comment) if comments else nullcontext():
            return get_response(request)
    finally:
        trace.reset(token)


def _comment(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Append the trace as https://google.github.io/sqlcommenter describes. It has nothing but hexadecimal digits.

    The server must not keep a statement prepared whose text never comes again.
    """
    current, session = trace.get(), context["connection"].connection
    if current is None or not isinstance(sql, str):
        return execute(sql, params, many, context)
    comment = f"{COMMENT}'00-{current.trace_id}-{current.span_id}-01'*/"
    threshold, session.prepare_threshold = session.prepare_threshold, None
    try:
        return execute(sql + comment, params, many, context)
    finally:
        session.prepare_threshold = threshold
