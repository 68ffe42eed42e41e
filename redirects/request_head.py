"""Reads the head of a request that is simple beyond doubt; every other one is gunicorn's to read.

Strict on purpose (RFC 9112): what could be understood in two ways is not understood here at all, so that the fast lane
can never answer what the ordinary way would have refused, nor find the end of a request elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from analytics.records import OPTED_OUT
from analytics.useragent import is_crawler
from analytics.visitor import Kind, agent_text, is_prefetch, kind_of, referrer_text
from common.hosts import canonical_host

_MAX_BLOCK = 4096
_MAX_LINES = 60
_NAME = re.compile(rb"[A-Za-z0-9-]+")
_VALUE = re.compile(rb"[ -~]*")
_QUERY = re.compile(rb"[!\"$-~]*")
# What is remembered of what was read lately, and how long it may be: a few MB.
_KEPT = 4096
_KEPT_LINE = 512
_KEPT_BLOCK = 1024


class NotSimple(Exception):
    pass


class Agent(NamedTuple):
    text: bytes
    is_crawler: bool


@dataclass(frozen=True, slots=True)
class Fields:
    """What the header says, as far as it matters to a redirect; texts and flags as the journal keeps them.

    ``kind`` is that of a visit by GET.
    """

    host: str
    agent: bytes
    kind: Kind
    flags: int
    referrer: bytes
    forwarded_for: str
    closes: bool


def _refused(_: str) -> None:
    raise NotSimple


def _closes(value: str) -> bool:
    if value.lower() not in ("close", "keep-alive"):
        raise NotSimple
    return value.lower() == "close"


def _agent(value: str) -> Agent:
    text = agent_text(value)
    return Agent(text.encode(), is_crawler(text))


def _is_one(value: str) -> bool:
    return value == "1"


# Name: what it is kept as, and how it is read. What has one name here must not be there twice.
_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "host": ("host", canonical_host),
    "user-agent": ("agent", _agent),
    "referer": ("referrer", lambda value: referrer_text(value).encode()),
    "x-forwarded-for": ("forwarded_for", str),
    "connection": ("closes", _closes),
    **dict.fromkeys(("sec-purpose", "purpose", "x-moz"), ("is_prefetch", is_prefetch)),
    "sec-gpc": ("gpc", _is_one),
    "dnt": ("dnt", _is_one),
    # gunicorn compares what they say, and refuses the request when they differ.
    **dict.fromkeys(("x-forwarded-proto", "x-forwarded-protocol", "x-forwarded-ssl"), ("scheme", str)),
    # They announce a body, another protocol or a conversation.
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
        ("", _refused),
    ),
}


class _Lines(dict[bytes, "tuple[str, Any] | None"]):
    """What a header line says, if it matters: browsers send the same few thousand lines again and again."""

    def __missing__(self, line: bytes) -> tuple[str, Any] | None:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise NotSimple
        kept, read = _READERS.get(name.decode("ascii").lower(), ("", None))
        said = None if read is None else (kept, read(value.strip(b" ").decode("ascii")))
        if len(line) <= _KEPT_LINE:
            if len(self) >= _KEPT:
                self.clear()
            self[line] = said
        return said


class _Blocks(dict[bytes, Fields]):
    """What all lines after the first one say: a client sends the same ones with each request on a connection."""

    def __missing__(self, block: bytes) -> Fields:
        lines = block[:-4].split(b"\r\n")
        if block[-4:] != b"\r\n\r\n" or len(block) > _MAX_BLOCK or len(lines) > _MAX_LINES:
            raise NotSimple
        # An empty line, where a head would end before the end of the block, is not simple either.
        said = list(filter(None, map(_lines.__getitem__, lines)))
        read = dict(said)
        if len(read) != len(said) or not read.get("host"):
            raise NotSimple
        agent: Agent = read.get("agent", _NO_AGENT)
        fields = Fields(
            host=read["host"],
            agent=agent.text,
            kind=kind_of("GET", read.get("is_prefetch", False), agent.is_crawler),
            flags=OPTED_OUT if read.get("gpc", False) or read.get("dnt", False) else 0,
            referrer=read.get("referrer", b""),
            forwarded_for=read.get("forwarded_for", ""),
            closes=read.get("closes", False),
        )
        if len(block) <= _KEPT_BLOCK:
            if len(self) >= _KEPT:
                self.clear()
            self[block] = fields
        return fields


_NO_AGENT = _agent("")
_lines = _Lines()
_blocks = _Blocks()


def read_head(data: bytes) -> tuple[str, bytes, str, Fields]:
    """Method, code, query and header. Raises NotSimple.

    ``data`` must be one head and nothing else: no body, and no beginning of another request.
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
        if not code.isalnum() or not _QUERY.fullmatch(rest):
            raise NotSimple
        query = rest.decode("ascii")
    if request[-9:] != b" HTTP/1.1" or not 3 <= len(code) <= 50:
        raise NotSimple
    return method, code, query, _blocks[block]
