"""Spans of the API's and the pages' requests and of their SQL statements, for OpenTelemetry.

Only if the operator has set an endpoint is this module loaded, which needs requirements-tracing.txt. OpenTelemetry
reads its own variables (`OTEL_…`). Spans have routes and statements with placeholders, but no paths, queries, values
or addresses.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)

from common.http.current_request import Trace, request_id, trace
from shortener_project.web.middleware import documented_route
from shortener_project.web.traces import COMMENT, GetResponse, respond_within

_FLUSH_MILLISECONDS = 3_000
# The message of an exception may contain values.
_WITHOUT_MESSAGES: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}


@cache
def _provider() -> TracerProvider:
    """Of this process: the thread that exports spans does not survive a fork."""
    resource = Resource.create()
    # Without a name in OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "shortener"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


@cache
def _tracer() -> Tracer:
    return _provider().get_tracer("shortener")


def _forget() -> None:
    _provider.cache_clear()
    _tracer.cache_clear()


os.register_at_fork(after_in_child=_forget)


def flush() -> None:
    """Export what this process has recorded, before it ends."""
    if _provider.cache_info().currsize:
        _provider().force_flush(_FLUSH_MILLISECONDS)


class SpanMiddleware:
    """Follows `RequestIdMiddleware`, which has named the requests that have spans."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request_id.get() is None:
            return self.get_response(request)
        method = str(request.method)
        with _tracer().start_as_current_span(
            method,
            context=_context_of(trace.get()),
            kind=SpanKind.SERVER,
            attributes={
                "http.request.method": method,
                "http.request.header.x-request-id": [request_id.get() or ""],
            },
            **_WITHOUT_MESSAGES,
        ) as span:
            names = span.get_span_context()
            own = Trace(
                format_trace_id(names.trace_id), format_span_id(names.span_id), names.trace_flags.sampled
            )
            if not names.is_valid:
                # OTEL_SDK_DISABLED
                return self.get_response(request)
            if not span.is_recording():
                return respond_within(own, self.get_response, request)
            with connection.execute_wrapper(_record_statement):
                response = respond_within(own, self.get_response, request)
            if request.resolver_match:
                route = documented_route(request.resolver_match.route)
                span.update_name(f"{method} {route}")
                span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                span.set_status(Status(StatusCode.ERROR))
            return response


def _context_of(parent: Trace | None) -> Any:
    if parent is None:
        return None
    names = SpanContext(
        int(parent.trace_id, 16),
        int(parent.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED if parent.is_sampled else TraceFlags.DEFAULT),
    )
    return set_span_in_context(NonRecordingSpan(names))


def _record_statement(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    text = str(sql).partition(COMMENT)[0].strip()
    operation = text.split(None, 1)[0].upper() if text else "SQL"
    with _tracer().start_as_current_span(
        operation,
        kind=SpanKind.CLIENT,
        attributes={
            "db.system.name": "postgresql",
            "db.operation.name": operation,
            "db.query.text": text,
        },
        **_WITHOUT_MESSAGES,
    ) as span:
        try:
            return execute(sql, params, many, context)
        except Exception as error:
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
