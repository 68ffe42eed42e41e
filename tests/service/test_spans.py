"""OTEL_EXPORTER_OTLP_ENDPOINT: what a collector on this machine receives from the service's forks."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS

pytestmark = pytest.mark.slow

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
# It would take a minute until a process sends its spans, so those that arrive are sent when it ends.
SETTINGS = {"OTEL_BSP_SCHEDULE_DELAY": "60000", "TRUSTED_PROXIES": "127.0.0.1/32", **LONG_TIMEOUTS}


class Span(NamedTuple):
    service: str
    trace: str
    parent: str
    id: str
    name: str
    attributes: dict[str, Any]


@contextmanager
def collector(paths: list[str], bodies: list[bytes]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            paths.append(self.path)
            bodies.append(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def spans_in(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        (service,) = [
            each.value.string_value for each in resource.resource.attributes if each.key == "service.name"
        ]
        for span in (span for scope in resource.scope_spans for span in scope.spans):
            attributes = {
                each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
            }
            names = span.trace_id.hex(), span.parent_span_id.hex(), span.span_id.hex()
            yield Span(service, *names, span.name, attributes)


def test_a_collector_gets_the_requests_and_their_statements(make_database: Callable[[], str]) -> None:
    paths: list[str] = []
    bodies: list[bytes] = []
    with (
        collector(paths, bodies) as endpoint,
        one_host(
            make_database(), OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, LOG_FORMAT="json", **SETTINGS
        ) as service,
    ):
        key = service.owner.api_key
        body = {"originalUrl": "https://example.com/s3cret"}
        header = f"00-{TRACE}-{PARENT}-01"
        created = service.call("POST", "/api/urls", body, X_API_Key=key, traceparent=header)
        path = f"/{created.json()['data']['url']['shortCode']}"
        assert service.call("GET", path, traceparent=header).status == 302
        service.call("GET", "/api/urls?search=s3cret", X_API_Key=key)
        # The proxy has decided that nobody records it.
        service.call("GET", "/api/urls/stats", X_API_Key=key, traceparent=header[:-1] + "0")
        assert service.stop() == 0
        log = service.stderr
    assert set(paths) == {"/v1/traces"}
    spans = [span for body in bodies for span in spans_in(body)]
    assert {span.service for span in spans} == {"shortener"}
    requests = {span.name: span for span in spans if "http.route" in span.attributes}
    assert set(requests) == {"POST /api/urls", "GET /api/urls"}
    creation, listing = requests["POST /api/urls"], requests["GET /api/urls"]
    assert (creation.trace, creation.parent, listing.parent) == (TRACE, PARENT, "")
    assert listing.trace != TRACE
    assert creation.attributes["http.response.status_code"] == 201
    (identifier,) = creation.attributes["http.request.header.x-request-id"].values
    assert identifier.string_value == created.headers["X-Request-ID"]
    for span in requests.values():
        statements = [each for each in spans if each.parent == span.id]
        assert {each.trace for each in statements} == {span.trace}
        assert {each.attributes["db.system.name"] for each in statements} == {"postgresql"}
        assert not any(TRACE in each.attributes["db.query.text"] for each in statements)
        assert f'"trace_id": "{span.trace}"' in log
    assert not any(secret in body for body in bodies for secret in (b"s3cret", key.encode()))
