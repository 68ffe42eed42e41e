"""Retries, pages and errors, alike in all clients, against a server that answers as the test says."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from testing.clients.drivers import Driver
from testing.clients.scripted import DROP, Answer, Request, scripted
from testing.clients.walk import Step, step

pytestmark = pytest.mark.slow

LINK = {"originalUrl": "https://example.com/"}
CREATE = step("createUrl", body=LINK)


def refusal(status: int, code: str, **headers: str) -> Answer:
    body = {"success": False, "message": "No.", "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, body, {"X-Request-ID": "r-1", **named})


def page(*rows: str, name: str = "urls", link: str = "", **pagination: Any) -> Answer:
    body = {"success": True, "data": {name: [*rows], "pagination": pagination}}
    return Answer(200, body, {"Link": link} if link else {})


class Case(NamedTuple):
    """What comes of a step, and how many requests it took."""

    step: Step
    answers: list[Answer | None]
    came: dict[str, Any]
    requests: int


DONE = Answer(201, {"success": True})
OK = {"answer": {"success": True}}


def error(status: int, code: str, kind: str, request: str | None = "r-1") -> dict[str, Any]:
    return {"error": [status, code], "type": kind, "request": request}


FAILED = {"failed": "ConnectionFailed"}
CASES = {
    "a write with a key": Case(CREATE, [DROP, refusal(503, "busy", Retry_After="0"), DONE], OK, 3),
    "a write still at work": Case(CREATE, [refusal(409, "idempotency_in_progress"), DONE], OK, 2),
    "a write without a key": Case(step("updateUrls"), [DROP, DONE], FAILED, 1),
    "a refused write without a key": Case(
        step("updateUrls"), [refusal(503, "busy", Retry_After="0"), DONE], error(503, "busy", "Busy"), 1
    ),
    "a limited write without a key": Case(
        step("updateUrls"), [refusal(429, "rate_limited", Retry_After="0"), DONE], OK, 2
    ),
    "a deletion": Case(step("deleteUrl", "a"), [DROP, DONE], FAILED, 1),
    "a read": Case(step("getUrl", "a"), [DROP, refusal(429, "rate_limited", Retry_After="0"), DONE], OK, 3),
    "a long wait": Case(
        step("getUrl", "a"),
        [refusal(429, "rate_limited", Retry_After="3600"), DONE],
        error(429, "rate_limited", "RateLimited"),
        1,
    ),
    "a date": Case(
        step("getUrl", "a"),
        [refusal(503, "busy", Retry_After="Sun, 06 Nov 1994 08:49:37 GMT"), DONE],
        OK,
        2,
    ),
    "no end of it": Case(
        step("getUrl", "a"), [refusal(503, "busy", Retry_After="0")] * 5, error(503, "busy", "Busy"), 4
    ),
    "a proxy's page": Case(
        step("updateUrls"), [Answer(502, "<html>")], error(502, "http_502", "ApiError", None), 1
    ),
    "a redirect": Case(
        step("getUrl", "a"),
        [Answer(302, "", {"Location": "http://127.0.0.1:9/"})],
        error(302, "http_302", "ApiError", None),
        1,
    ),
    "a code of later": Case(
        step("getUrl", "a"), [refusal(409, "of_later")], error(409, "of_later", "ApiError"), 1
    ),
    "another server": Case(step("getUrl", "a"), [Answer(200, "<html>")], {"failed": "UnexpectedAnswer"}, 1),
    "nothing new": Case(step("getUrl", "a"), [Answer(304, "")], {"failed": "NotModified"}, 1),
}
KEY = "sl_live_abc"


Came = list[tuple[dict[str, Any], list[Request]]]


def came_of(drive: Driver, *cases: tuple[Step, list[Answer | None]], key: str = KEY) -> Came:
    """What comes of each step, and the requests that its server got."""
    with ExitStack() as stack:
        servers = [stack.enter_context(scripted(answers)) for _, answers in cases]
        steps = [(server.url, each) for server, (each, _) in zip(servers, cases, strict=True)]
        came = drive(steps, {"apiKey": key})
        for each in came:
            del each["call"]
        return [(each, server.requests) for each, server in zip(came, servers, strict=True)]


def test_calls_are_repeated_only_if_that_is_safe_and_soon(sort: str, drive: Driver) -> None:
    differences = []
    came = came_of(drive, *((case.step, case.answers) for case in CASES.values()))
    for (name, case), (answer, requests) in zip(CASES.items(), came, strict=True):
        expected = dict(case.came)
        # Python has a class for each code, TypeScript a type of codes.
        if sort == "typescript" and "type" in expected:
            expected["type"] = "ApiError"
        if (answer, len(requests)) != (expected, case.requests):
            differences.append((name, answer, len(requests)))
        # A call has the same key in each attempt, if its operation accepts one.
        [key] = {request.headers.get("idempotency-key") for request in requests}
        assert (key is not None) == (case.step is CREATE), name
        assert key is None or str(UUID(key)) == key
        assert {request.headers["x-api-key"] for request in requests} == {KEY}
        assert all(request.headers["user-agent"].startswith("shortener-client-") for request in requests)
    assert differences == []


def test_a_token_that_acts_as_a_key_is_sent_as_a_token(drive: Driver) -> None:
    [(answer, [request])] = came_of(drive, (step("getUrl", "a"), [DONE]), key="eyJ.a.b")
    assert (answer, request.headers["authorization"]) == (OK, "Bearer eyJ.a.b")
    assert "x-api-key" not in request.headers


def test_iterations_follow_links_then_cursors_then_numbers(drive: Driver) -> None:
    filtered = step("iterateUrls", query={"tags": "a&b", "limit": 1})
    by_number = [page("a", page=1, pages=2), page("b", page=2, pages=2)]
    by_cursor = [page("a", name="changes", nextCursor="x=/"), page("b", name="changes", nextCursor=None)]
    # The credential stays with this server, whatever the link says. The last page has no link to another.
    first = '<https://a.example/?a=1,2>; rel="first"; title="a, b"'
    link = f"{first}, <http://evil.example/x?cursor=c%2F&limit=1>; rel=next"
    by_link = [page("a", link=link, page=1, pages=3), page("b", page=1, pages=3)]

    came = came_of(drive, (filtered, by_number), (step("iterateChanges"), by_cursor), (filtered, by_link))

    assert [rows for rows, _ in came] == [{"rows": ["a", "b"]}] * 3
    assert [[(request.path, request.query) for request in requests] for _, requests in came] == [
        [
            ("/api/urls", {"tags": "a&b", "limit": "1"}),
            ("/api/urls", {"tags": "a&b", "limit": "1", "page": "2"}),
        ],
        [("/api/audit", {}), ("/api/audit", {"cursor": "x=/"})],
        [("/api/urls", {"tags": "a&b", "limit": "1"}), ("/api/urls", {"cursor": "c/", "limit": "1"})],
    ]
