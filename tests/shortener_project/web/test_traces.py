"""The header `traceparent` of a trusted proxy, in log lines, SQL statements and the history."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from common.database import fetch
from shortener_project.running.logs import JSONFormatter, TextFormatter

pytestmark = pytest.mark.django_db

PROXY = "10.1.2.3"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(autouse=True)
def trusted(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]


class Lines(logging.Handler):
    """The line of each API request, as both formats show it while the request lasts."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str | None] = []

    def emit(self, record: logging.LogRecord) -> None:
        trace_id = json.loads(JSONFormatter().format(record)).get("trace_id")
        assert (f"trace_id={trace_id}" if trace_id else "request_id=") in TextFormatter().format(record)
        assert trace_id or "trace_id" not in TextFormatter().format(record)
        self.ids.append(trace_id)


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    logger = logging.getLogger("shortener_project.web.middleware")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def request(api: APIClient, traceparent: str, trace_id: str | None = None, address: str = PROXY) -> list[str]:
    """The statements of a creation, an edit and a read. The history of the edit has ``trace_id``."""
    sent: dict[str, Any] = {"headers": {"traceparent": traceparent}, "REMOTE_ADDR": address}
    with CaptureQueriesContext(
        connection,
    ) as queries:
        created = api.post("/api/urls", {"originalUrl": "https://a.example/"}, **sent)
        path = f"/api/urls/{created.json()['data']['url']['_id']}"
        assert api.put(path, {"title": "Edited"}, **sent).status_code == 200
        assert api.get(path, **sent).status_code == 200
    statements = [
        query["sql"]
        for query in queries.captured_queries
        if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))
    ]
    [change] = api.get(f"{path}/history").json()["data"]["changes"]
    assert (change["after"], change["traceId"]) == ({"title": "Edited"}, trace_id)
    return statements


def test_a_sampled_trace_is_in_the_log_the_history_and_each_statement(api: APIClient, lines: Lines) -> None:
    statements = request(api, f"00-{TRACE}-{SPAN}-01", TRACE)
    assert len(statements) > 3
    comment = f" /*traceparent='00-{TRACE}-{SPAN}-01'*/"
    assert [statement for statement in statements if not statement.endswith(comment)] == []
    assert lines.ids == 3 * [TRACE] + [None]
    # Each would stay in the session, and displace the one without a comment.
    assert fetch("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%traceparent%'") == []


def test_a_trace_that_nobody_records_is_in_the_log_and_the_history_only(api: APIClient, lines: Lines) -> None:
    assert [
        statement for statement in request(api, f"00-{TRACE}-{SPAN}-00", TRACE) if "/*" in statement
    ] == []
    # A version of the format that nobody knows yet.
    request(api, f"cc-{TRACE}-{SPAN}-00-what the future brings", TRACE)
    assert lines.ids == 2 * [*3 * [TRACE], None]


@pytest.mark.parametrize(
    "traceparent",
    [
        "", "00", f"00-{TRACE}-{SPAN}", f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE.upper()}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01*/; DROP TABLE links_link; --",
        f"cc-{TRACE}-{SPAN}-01\n", f"00-{'٣' * 32}-{SPAN}-01",
    ],
)  # fmt: skip
def test_an_invalid_trace_is_ignored(traceparent: str, api: APIClient, lines: Lines) -> None:
    assert [statement for statement in request(api, traceparent) if "/*" in statement] == []
    assert lines.ids == 4 * [None]


def test_the_trace_of_an_untrusted_client_is_ignored(api: APIClient, lines: Lines) -> None:
    statements = request(api, f"00-{TRACE}-{SPAN}-01", address="192.0.2.1")
    assert [statement for statement in statements if "/*" in statement] == []
    assert lines.ids == 4 * [None]


def test_without_an_endpoint_no_part_of_the_recording_is_loaded() -> None:
    assert [name for name in sys.modules if name.startswith("opentelemetry.exporter")] == []
    assert "shortener_project.web.spans" not in sys.modules
