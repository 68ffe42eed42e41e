"""One request to an address that somebody has entered, and its answer."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from time import monotonic
from typing import Any, NamedTuple

from ada_url import URL
from django.conf import settings

from common.http.urls import Destination, InvalidDestination, canonical_destination
from common.outbound.addresses import addresses_of
from common.outbound.connections import Channel, Deadline, connect, late, with_tls
from common.outbound.errors import OutboundError

# The name by which the files robots.txt know the service.
AGENT = "URL-shortener"
ANSWER_BYTES = 64 * 1024
_HEAD_BYTES = 64 * 1024
_HTTPS_PORT, _HTTP_PORT = 443, 80


class Answer(NamedTuple):
    """The names of ``headers`` are in lower case. ``body`` has the first bytes of a longer one."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


def user_agent() -> str:
    """What the service calls itself. Owners of other hosts find the operator by the contact."""
    version = settings.SPECTACULAR_SETTINGS["VERSION"]
    return f"{AGENT}/{version} (+{settings.OUTBOUND_CONTACT})"


def send(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    seconds: float = 15.0,
    answer_bytes: int = ANSWER_BYTES,
    allow_http: bool = False,
) -> Answer:
    """Send one request, and read at most ``answer_bytes`` of the answer's body. Raises OutboundError and nothing else.

    It follows no redirects and uses no proxies. ``seconds`` are for everything together, from the lookup of the name
    to the last byte, however slowly the bytes come. ``allow_http``: also without TLS.
    """
    if not settings.OUTBOUND:
        raise OutboundError("off", "This installation sends no requests to other hosts.")
    started, deadline = monotonic(), Deadline(seconds)
    destination, path, is_https = _parsed(url)
    if not (is_https or allow_http or settings.OUTBOUND_PLAIN_HTTP):
        raise OutboundError("not_https", "The address must start with https://.")
    addresses = addresses_of(destination.host, deadline.left())
    connection = connect(addresses, destination.port, deadline)
    try:
        if is_https:
            connection = with_tls(connection, destination.host.strip("[]").rstrip("."), deadline)
        channel = Channel(connection, deadline, _HEAD_BYTES)
        client = http.client.HTTPConnection(destination.host.strip("[]"), destination.port)
        client.sock = channel  # as much of a socket as it needs
        # It must never connect by itself.
        client.auto_open = 0
        client.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in _headers(destination, is_https, method, headers or {}, body).items():
            client.putheader(name, value)
        client.endheaders(body or None)
        response = client.getresponse()
        channel.bytes_left += answer_bytes
        content = _read(response, answer_bytes)
        return Answer(response.status, _received(response), content, monotonic() - started)
    except TimeoutError:
        raise late() from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        # Not the text of the error: it may repeat what the host has sent.
        raise OutboundError("protocol", f"The host does not speak HTTP: {type(error).__name__}.") from None
    finally:
        connection.close()


def _parsed(url: str) -> tuple[Destination, str, bool]:
    try:
        destination = canonical_destination(url)
    except InvalidDestination as error:
        raise OutboundError("bad_url", error.message) from None
    parts = URL(destination.href)
    return destination, parts.pathname + parts.search, parts.protocol == "https:"


def _headers(
    destination: Destination, is_https: bool, method: str, headers: Mapping[str, str], body: bytes
) -> dict[str, Any]:
    is_default = destination.port == (_HTTPS_PORT if is_https else _HTTP_PORT)
    sent = {
        "Host": destination.host if is_default else f"{destination.host}:{destination.port}",
        "User-Agent": user_agent(),
        "Accept-Encoding": "identity",
        "Connection": "close",
        **({"Content-Length": str(len(body))} if body or method in ("POST", "PUT", "PATCH") else {}),
    }
    # Without the case of the names, so that nobody replaces the host or smuggles a second length.
    own = {name.lower() for name in sent}
    return sent | {name: value for name, value in headers.items() if name.lower() not in own}


def _read(response: http.client.HTTPResponse, limit: int) -> bytes:
    content = response.read(limit) if limit else b""
    if response.length and len(content) < limit:
        raise http.client.IncompleteRead(content)
    return content


def _received(response: http.client.HTTPResponse) -> dict[str, str]:
    received: dict[str, str] = {}
    for name, value in response.getheaders():
        known = received.get(name.lower())
        received[name.lower()] = value if known is None else f"{known}, {value}"
    return received
