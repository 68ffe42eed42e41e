"""One check of a destination: at most a HEAD and a GET of one byte, each with at most five redirects."""

from __future__ import annotations

from http import HTTPStatus

from common.http.urls import InvalidDestination, canonical_destination
from common.outbound import Answer, OutboundError
from links.health import hosts
from links.health.hosts import Disallowed
from links.health.states import Result, Verdict

_GONE = frozenset((HTTPStatus.NOT_FOUND, HTTPStatus.GONE))
_BLOCKED = frozenset((HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE))
_FAILURES = frozenset(("nxdomain", "tls", "refused"))
# A GET would find the same, or hold a thread for as long again.
_FINAL = _FAILURES | {"off", "bad_url", "forbidden_address", "dns", "unreachable", "timeout"}
# What `problem` says besides a status of HTTP and the reasons of `OutboundError`.
ROBOTS, REDIRECTS = "robots", "redirects"


class _TooManyRedirects(Exception):
    pass


def check(url: str) -> Result:
    """Call the destination. It waits for its turn at each host, and raises HostBusy if that takes long."""
    try:
        answer = _head_or_get(url)
    except OutboundError as error:
        verdict = Verdict.FAILED if error.reason in _FAILURES else Verdict.UNDECIDED
        return Result(verdict, error.reason)
    except Disallowed:
        return Result(Verdict.BLOCKED, ROBOTS)
    except _TooManyRedirects:
        return Result(Verdict.UNDECIDED, REDIRECTS)
    status = answer.status
    # The one byte of an empty page does not exist.
    if status < 300 or status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return Result(Verdict.HEALTHY)
    if status in _GONE:
        return Result(Verdict.FAILED, str(status))
    return Result(Verdict.BLOCKED if status in _BLOCKED else Verdict.UNDECIDED, str(status))


def _head_or_get(url: str) -> Answer:
    """Many hosts answer a HEAD with an error or not at all."""
    try:
        answer = _follow("HEAD", url)
    except OutboundError as error:
        if error.reason in _FINAL:
            raise
    else:
        if answer.status < 300 or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            return answer
    return _follow("GET", url)


def _follow(method: str, url: str) -> Answer:
    for _ in range(hosts.MAX_REDIRECTS + 1):
        try:
            destination = canonical_destination(url)
        except InvalidDestination as error:
            # For example the address of an app.
            raise OutboundError("bad_url", error.message) from None
        host = destination.host
        hosts.require_allowed(destination.href, host)
        headers = {"Range": "bytes=0-0"} if method == "GET" else {}
        answer = hosts.call(method, destination.href, host, headers=headers, answer_bytes=1)
        following = hosts.next_url(answer, destination.href)
        if following is None:
            return answer
        url = following
    raise _TooManyRedirects
