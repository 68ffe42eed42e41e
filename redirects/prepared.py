"""Answers that are made ahead, for links that are known and ask nothing of their visitor.

Each is one piece of memory. What was last asked for thousands of requests ago has left the processor's caches, and
fetching it costs by the number of places it is spread over, not by its length: as objects it took half as long again
to answer for a link at random as for the one that was asked for before (`python -m bench.redirects`).
"""

from __future__ import annotations

import time
from math import inf
from struct import Struct

from common.generations import Generations
from common.versions import Version, Versions
from links.destination_cache import UNKNOWN_SECONDS
from links.destinations import Found, Target
from redirects.answers import redirect_headers

# The numbers of the code and the host, link, end (seconds since 1970), slots of the code and the host, status, and the
# length of what stands behind the answer about countries. No status: it is not for the fast lane.
_HEAD = Struct("<QQqdIIHH")
HEAD_BYTES = _HEAD.size
read_head_of = _HEAD.unpack_from
# What an entry takes besides its bytes: two objects, and its place in the table.
_ENTRY_BYTES = 120


def prepare(versions: Versions, found: Found) -> bytes:
    """``versions`` as they were before ``found`` was read."""
    version = versions.known
    link_id, status, until, answer, countries = 0, 0, inf, b"", b""
    if not isinstance(found, Target):
        version, until = versions.unknown, time.time() + UNKNOWN_SECONDS
    elif _is_plain(found):
        link_id, status = found.link_id, found.redirect_type
        until = inf if found.expires_at is None else found.expires_at.timestamp()
        headers = redirect_headers(found) | {"Content-Length": "0"}
        answer = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("ascii") + b"\r\n"
        if found.allowed_countries or found.blocked_countries:
            countries = f"{','.join(found.allowed_countries)}|{','.join(found.blocked_countries)}".encode()
    head = _HEAD.pack(
        version.code_number, version.host_number, link_id, until,
        version.code_slot, version.host_slot, status, len(countries),
    )  # fmt: skip
    return head + answer + countries


def holds(prepared: bytes, now: float) -> bool:
    """Whether it is still known that this is the answer, or that there is none here. ``now`` in seconds since 1970."""
    code_number, host_number, _, until, code_slot, host_slot, status, _ = read_head_of(prepared)
    is_current = Version(code_slot, host_slot, code_number, host_number).holds
    # That a link is over is known for good; that a code is unknown is not.
    return is_current and (status != 0 or until > now)


def read_countries(text: bytes) -> tuple[list[str], list[str]]:
    """Those that are allowed and those that are blocked."""
    allowed, _, blocked = text.decode("ascii").partition("|")
    return allowed.split(",") if allowed else [], blocked.split(",") if blocked else []


def _is_plain(target: Target) -> bool:
    return (
        target.is_active
        and target.password is None
        and target.max_clicks is None
        and not target.allowed_devices
    )


def prepared_answers(entries: int, size: int) -> Generations[bytes, bytes]:
    """Those of one process, for its main thread, by code and host."""
    return Generations(entries, size, lambda key, prepared: len(key) + len(prepared) + _ENTRY_BYTES)
