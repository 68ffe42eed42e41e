"""Parses the head of an unambiguous request; gunicorn parses all others.

Strict on purpose (RFC 9112): an ambiguous head is not simple. So the fast lane can neither answer a request that
gunicorn would reject, nor find the end of a request at another place.

Trades clarity for speed: two dictionaries cache parsed header lines and whole parsed blocks, and parse in
``__missing__``, so a known block costs one lookup. bench/results.csv, "Redirects", has the resulting rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from analytics.journal.agents import short_agent, with_language
from analytics.journal.records import OPTED_OUT
from analytics.visitors.useragent import is_crawler
from analytics.visitors.visitor import (
    Kind,
    agent_text,
    asks_to_be_ignored,
    is_prefetch,
    kind_of,
    referrer_text,
)
from common.http.languages import counted_language
from common.http.urls import MAX_LINE, canonical_host
from links.codes import PATTERN
from links.models import MAX_CODE
from pages.responses import accepts_json

_MAX_BLOCK = 4096
_MAX_LINES = 60
_NAME = re.compile(rb"[A-Za-z0-9-]+")
_VALUE = re.compile(rb"[ -~]*")
_CODE = re.compile(PATTERN.encode())
_QUERY = re.compile(rb"[!\"$-~]*")
# Limits of the two parser caches, entries and bytes per entry: a few MB in total.
_CACHED_ENTRIES = 4096
_CACHED_LINE_BYTES = 512
_CACHED_BLOCK_BYTES = 1024
_PREVIEW_END = b"+ HTTP/1.1"


class NotSimple(Exception):
    """The head is not one that the fast lane reads."""


class Agent(NamedTuple):
    text: str
    recorded: bytes
    is_crawler: bool


class Language(NamedTuple):
    header: str
    recorded: bytes


@dataclass(frozen=True, slots=True)
class Fields:
    """The header fields that matter to a redirect; texts and flags in the form of the journal.

    ``kind``: the kind of the visit if the method is GET. ``agent``: of the record, with the language.
    """

    host: str
    agent: bytes
    user_agent: str
    kind: Kind
    flags: int
    referrer: bytes
    forwarded_for: str
    closes: bool
    is_secure: bool
    accept_language: str = ""
    accepts_json: bool = False


def _reject(_: str) -> None:
    raise NotSimple


def _closes(value: str) -> bool:
    if value.lower() not in ("close", "keep-alive"):
        raise NotSimple
    return value.lower() == "close"


def _agent(value: str) -> Agent:
    text = agent_text(value)
    return Agent(text, short_agent(text.encode()), is_crawler(text))


def _language(value: str) -> Language:
    return Language(value, counted_language(value).encode())


def _is_one(value: str) -> bool:
    return value == "1"


# Header name: result name and parser. Two header lines with the same result name make the request not simple.
_FIELD_PARSERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "host": ("host", canonical_host),
    "user-agent": ("agent", _agent),
    "referer": ("referrer", lambda value: referrer_text(value).encode()),
    "x-forwarded-for": ("forwarded_for", str),
    "accept-language": ("language", _language),
    # Only refusals read it.
    "accept": ("accepts_json", accepts_json),
    "cookie": ("ignored", asks_to_be_ignored),
    "connection": ("closes", _closes),
    **dict.fromkeys(("sec-purpose", "purpose", "x-moz"), ("is_prefetch", is_prefetch)),
    "sec-gpc": ("gpc", _is_one),
    "dnt": ("dnt", _is_one),
    # gunicorn compares their values, and rejects the request if they differ.
    "x-forwarded-proto": ("is_secure", lambda value: value == "https"),
    "x-forwarded-protocol": ("is_secure", lambda value: value == "ssl"),
    "x-forwarded-ssl": ("is_secure", lambda value: value == "on"),
    # Announce a body, a protocol upgrade or an interim response.
    **dict.fromkeys(
        (
            "content-length",
            "content-type",
            "transfer-encoding",
            "expect",
            "upgrade",
            "http2-settings",
            "trailer",
        ),
        ("", _reject),
    ),
}


class _Lines(dict[bytes, "tuple[str, Any] | None"]):
    """Caches parsed header lines: browsers repeat the same few thousand lines."""

    def __missing__(self, line: bytes) -> tuple[str, Any] | None:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise NotSimple
        name_in_result, parse = _FIELD_PARSERS.get(name.decode("ascii").lower(), ("", None))
        parsed = None if parse is None else (name_in_result, parse(value.strip(b" ").decode("ascii")))
        if len(line) <= _CACHED_LINE_BYTES:
            if len(self) >= _CACHED_ENTRIES:
                self.clear()
            self[line] = parsed
        return parsed


class _Blocks(dict[bytes, Fields]):
    """Caches parsed header blocks: a client repeats its block with each request on a connection."""

    def __missing__(self, block: bytes) -> Fields:
        lines = block[:-4].split(b"\r\n")
        if block[-4:] != b"\r\n\r\n" or len(block) > _MAX_BLOCK or len(lines) > _MAX_LINES:
            raise NotSimple
        # An empty line inside the block, where the head would end early, is not simple either.
        parsed = list(filter(None, map(_lines.__getitem__, lines)))
        read = dict(parsed)
        if len(read) != len(parsed) or not read.get("host"):
            raise NotSimple
        agent: Agent = read.get("agent", _NO_AGENT)
        language: Language = read.get("language", _NO_LANGUAGE)
        fields = Fields(
            host=read["host"],
            agent=with_language(agent.recorded, language.recorded),
            user_agent=agent.text,
            kind=kind_of("GET", read.get("is_prefetch", False), agent.is_crawler, read.get("ignored", False)),
            flags=OPTED_OUT if read.get("gpc", False) or read.get("dnt", False) else 0,
            referrer=read.get("referrer", b""),
            forwarded_for=read.get("forwarded_for", ""),
            closes=read.get("closes", False),
            is_secure=read.get("is_secure", False),
            accept_language=language.header,
            accepts_json=read.get("accepts_json", False),
        )
        if len(block) <= _CACHED_BLOCK_BYTES:
            if len(self) >= _CACHED_ENTRIES:
                self.clear()
            self[block] = fields
        return fields


_NO_AGENT, _NO_LANGUAGE = _agent(""), _language("")
_lines = _Lines()
_blocks = _Blocks()


def read_head(data: bytes) -> tuple[str, bytes, str, Fields]:
    """Return method, code (without a slash at its end), query and header fields. Raises NotSimple.

    ``data`` must be exactly one head, without a body or the start of another request.
    """
    request, _, block = data.partition(b"\r\n")
    if request[:5] == b"GET /":
        method, code = "GET", request[5:-9]
    elif request[:6] == b"HEAD /":
        method, code = "HEAD", request[6:-9]
    else:
        raise NotSimple
    query = ""
    if not code.isalnum():
        code, _, rest = code.partition(b"?")
        code = code.removesuffix(b"/")
        if not code.isalnum():
            code = _decode(code)
        if not _QUERY.fullmatch(rest) or len(request) > MAX_LINE:
            raise NotSimple
        query = rest.decode("ascii")
    if request[-9:] != b" HTTP/1.1" or len(code) > MAX_CODE:
        raise NotSimple
    return method, code, query, _blocks[block]


def link_request(data: bytes) -> bytes:
    """Return the request for the link itself. Raises NotSimple for other requests, and if the preview has a query: the
    link of its page would contain it.
    """
    line, _, block = data.partition(b"\r\n")
    if not line.endswith(_PREVIEW_END) or line.endswith(b"/" + _PREVIEW_END) or b"?" in line:
        raise NotSimple
    return line.removesuffix(_PREVIEW_END) + b" HTTP/1.1\r\n" + block


def read_link_head(data: bytes) -> tuple[str, bytes, str, Fields]:
    """Read the head of a request for a link or for its preview as `read_head` does. Raises NotSimple."""
    try:
        return read_head(data)
    except NotSimple:
        return read_head(link_request(data))


def _decode(path: bytes) -> bytes:
    """Return the code that Django would read from this path, without its leading slash. Decodes once."""
    code = unquote_to_bytes(path) if b"%" in path else path
    if not _CODE.fullmatch(code):
        raise NotSimple
    return code
