"""The form of a record: what one request leaves in the journal.

A frame is the length of the payload (16 bits), its complement, and the CRC32C of the payload, then the payload. The
complement tells a damaged length from a record that was only begun when its writer was killed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from itertools import accumulate, pairwise
from struct import Struct, error
from typing import NamedTuple

from google_crc32c import value as crc32c

_HEADER = Struct("<HHI")
MAX_FRAME_BYTES = _HEADER.size + 0xFFFF
# Time, subject, kind, flags, and the lengths of address, reason, agent and referrer.
_FIXED = Struct("<qqBBBBHH")
_ORIGIN = Struct("<16sq")

OPTED_OUT = 1
# A claimed click is in the link's counter already.
COUNTED = 2
SCANNED = 8
_REWRITTEN = 4

# Besides those of analytics.models.Kind. The subject is a domain, 0 for the default one.
UNKNOWN_CODE = 100


class Origin(NamedTuple):
    """Where a record stood before a disk refused to keep it: it may have been counted from there."""

    segment: uuid.UUID
    end: int


class Record(NamedTuple):
    """``time`` in microseconds since 1970 (UTC); ``subject`` is a link, or a domain for an unknown code."""

    time: int
    subject: int
    kind: int
    flags: int
    address: str
    reason: str
    user_agent: str
    referrer: str
    origin: Origin | None = None


class Corrupt(Exception):
    """What is there cannot have been written; ``position`` is where it begins."""

    def __init__(self, position: int) -> None:
        super().__init__(f"damaged at byte {position}")
        self.position = position


def encode(record: Record) -> bytes:
    return encoded(
        record.time,
        record.subject,
        record.kind,
        record.flags,
        record.address.encode(),
        record.user_agent.encode(),
        record.referrer.encode(),
        record.reason.encode(),
    )


def encoded(  # noqa: PLR0917 # a row; by name it would cost as much as the rest of it
    time: int,
    subject: int,
    kind: int,
    flags: int,
    address: bytes,
    agent: bytes,
    referrer: bytes,
    reason: bytes = b"",
) -> bytes:
    """A record whose texts are UTF-8 already."""
    fixed = _FIXED.pack(time, subject, kind, flags, len(address), len(reason), len(agent), len(referrer))
    return fixed + address + reason + agent + referrer


def decode(payload: bytes) -> Record:
    """Raises ValueError when it is no record."""
    try:
        time, subject, kind, flags, *lengths = _FIXED.unpack_from(payload)
    except error as problem:
        raise ValueError(str(problem)) from None
    places = list(accumulate(lengths, initial=_FIXED.size))
    address, reason, agent, referrer = (payload[start:end].decode() for start, end in pairwise(places))
    origin = None
    if flags & _REWRITTEN:
        segment, end = _ORIGIN.unpack_from(payload, places[-1])
        origin = Origin(uuid.UUID(bytes=segment), end)
    return Record(time, subject, kind, flags, address, reason, agent, referrer, origin)


def frame(payload: bytes) -> bytes:
    return _HEADER.pack(len(payload), len(payload) ^ 0xFFFF, crc32c(payload)) + payload


def rewritten(payload: bytes, origin: Origin) -> bytes:
    """The frame of the same record for another segment. It keeps the first place where it stood."""
    if payload[_FLAGS] & _REWRITTEN:
        return frame(payload)
    changed = bytearray(payload)
    changed[_FLAGS] |= _REWRITTEN
    return frame(bytes(changed) + _ORIGIN.pack(origin.segment.bytes, origin.end))


_FLAGS = Struct("<qqB").size


def origins(frames: Iterable[Framed]) -> set[uuid.UUID]:
    """The segments where some of these records stood before."""
    return {
        uuid.UUID(bytes=_ORIGIN.unpack_from(payload, len(payload) - _ORIGIN.size)[0])
        for payload, _ in frames
        if len(payload) >= _FIXED.size + _ORIGIN.size and payload[_FLAGS] & _REWRITTEN
    }


class Framed(NamedTuple):
    """A payload and where its frame ends."""

    payload: bytes
    end: int


def read_frames(data: bytes, limit: int) -> list[Framed]:
    """The whole frames at the start of ``data``, at most ``limit``. Raises Corrupt if the first one is damaged.

    What follows the last whole one is either a record that is being written, or was when its writer died, or damage
    that the next call reports.
    """
    found: list[Framed] = []
    start, size = 0, len(data)
    while len(found) < limit and size - start >= _HEADER.size:
        length, complement, checksum = _HEADER.unpack_from(data, start)
        end = start + _HEADER.size + length
        payload = data[start + _HEADER.size : end]
        sound = length ^ complement == 0xFFFF and (end > size or crc32c(payload) == checksum)
        if not sound and not found and any(data[start:]):
            raise Corrupt(start)
        # Nothing but zeros is what a power cut leaves of a file that had grown, but was not written yet.
        if not sound or end > size:
            break
        found.append(Framed(payload, end))
        start = end
    return found
