"""The visitor of a link, read from the request once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Literal

from analytics.visitors.useragent import AGENT_CHARACTERS, is_crawler
from common.http.client_address import address_from
from common.http.languages import counted_language
from links.codes import SCAN_MARKER

Kind = Literal["click", "head", "prefetch", "crawler", "ignored"]
# Visits of people, who follow the link: those that count, and those of browsers that asked not to be counted.
FOLLOWING: tuple[Kind, ...] = ("click", "ignored")
IGNORING_COOKIE = "ignore_my_visits"
_ASKS = f"{IGNORING_COOKIE}=1"

REFERRER_CHARACTERS = 512

# PostgreSQL refuses NUL and surrogates; the other control characters would allow forged log lines.
_UNSTORABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PREFETCH_HEADERS = ("HTTP_SEC_PURPOSE", "HTTP_PURPOSE", "HTTP_X_MOZ")
_PREFETCH = re.compile("prefetch|prerender|preview", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who visits a link. Only a visit of the ``kind`` "click" counts.

    ``language``: by `common.http.languages.counted_language`.
    """

    address: str
    user_agent: str
    referrer: str
    kind: Kind
    opted_out: bool
    scanned: bool = False
    language: str = ""


def visitor_from(
    meta: Mapping[str, str], method: str, trusted_proxies: Sequence[IPv4Network | IPv6Network]
) -> Visitor:
    """The visitor from a WSGI environment."""
    user_agent = agent_text(meta.get("HTTP_USER_AGENT", ""))
    return Visitor(
        address=address_from(meta, trusted_proxies),
        user_agent=user_agent,
        referrer=referrer_text(meta.get("HTTP_REFERER", "")),
        kind=kind_of(
            method,
            any(header in meta and is_prefetch(meta[header]) for header in _PREFETCH_HEADERS),
            is_crawler(user_agent),
            asks_to_be_ignored(meta.get("HTTP_COOKIE", "")),
        ),
        opted_out=meta.get("HTTP_SEC_GPC") == "1" or meta.get("HTTP_DNT") == "1",
        scanned=is_scan(meta.get("QUERY_STRING", "")),
        language=counted_language(meta.get("HTTP_ACCEPT_LANGUAGE", "")),
    )


def kind_of(method: str, prefetched: bool, crawler: bool, ignored: bool) -> Kind:
    if method == "HEAD":
        return "head"
    if prefetched:
        return "prefetch"
    if crawler:
        return "crawler"
    return "ignored" if ignored else "click"


def asks_to_be_ignored(cookies: str) -> bool:
    """Whether the Cookie header has the cookie of the page for one's own visits."""
    return _ASKS in cookies and _ASKS in [cookie.strip(" ") for cookie in cookies.split(";")]


def is_prefetch(purpose: str) -> bool:
    """Whether the value of a purpose header says that the request is a prefetch, so nobody has clicked yet."""
    return _PREFETCH.search(purpose) is not None


def is_scan(query: str) -> bool:
    return SCAN_MARKER in query.split("&")


def agent_text(header: str) -> str:
    return _text(header, AGENT_CHARACTERS)


def referrer_text(header: str) -> str:
    return _text(header, REFERRER_CHARACTERS)


def _text(header: str, characters: int) -> str:
    """Decode a header: WSGI presents its bytes as latin-1, but clients send UTF-8 or invalid bytes."""
    if header.isascii() and header.isprintable():
        return header[:characters]
    text = header.encode("latin-1", "replace").decode("utf-8", "replace")
    return _UNSTORABLE.sub("", text)[:characters]
