"""The binary format of a record: the journal entry of one request.

A frame is the length of the payload (16 bits), its complement, the CRC32C of the payload, and the payload. The
complement distinguishes a damaged length from a record that its writer left incomplete when it was killed.

``encode_fields``, ``fields_of`` and ``read_frames`` trade clarity for speed: positional arguments, no loop over the
text fields, and tuples that ``_new`` makes, because the constructors of named tuples take twice as long.
bench/results.csv, "Clicks and reports", has the time to record a click and the rate at which clicks are counted.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from struct import Struct, error
from typing import NamedTuple

from google_crc32c import value as crc32c

from analytics.journal.agents import agent_and_language, short_agent, with_language

_HEADER = Struct("<HHI")
MAX_FRAME_BYTES = _HEADER.size + 0xFFFF
# A length and its complement are never both zero: zeros here mean wiped or never written space.
LENGTH_BYTES = 4
# Time, subject, kind, flags, and the lengths of address, reason, agent and referrer.
_FIXED = Struct("<qqBBBBHH")
_FIXED_BYTES, _unpack_fixed = _FIXED.size, _FIXED.unpack_from
_ORIGIN = Struct("<16sq")
# Parts of the fixed fields: the position of the flags, and two other fields.
_FLAGS = Struct("<qqB").size
_SUBJECT_AND_KIND = Struct("<8xqB")
_new = tuple.__new__

OPTED_OUT = 1
# A claimed click: the link's counter includes it already.
COUNTED = 2
SCANNED = 8
_HAS_ORIGIN = 4
# The upper half of the flags is the number of the branch (see links.models.Route): 0 to 15.
BRANCH_SHIFT = 4

# In addition to analytics.models.Kind. The subject is a domain; 0 is the default domain. The reason is the code.
UNKNOWN_CODE = 100


class Origin(NamedTuple):
    """The first position of a record that was rewritten after a failed sync. It may have been counted there."""

    segment: uuid.UUID
    end: int


class Record(NamedTuple):
    """``time`` is in microseconds since 1970 (UTC); ``subject`` is a link id, or a domain id for an unknown code.

    ``language``: by `common.http.languages.counted_language`.
    """

    time: int
    subject: int
    kind: int
    flags: int
    address: str
    reason: str
    user_agent: str
    referrer: str
    origin: Origin | None = None
    language: str = ""

    @property
    def branch(self) -> int:
        return self.flags >> BRANCH_SHIFT


class Fields(NamedTuple):
    """A `Record` whose texts are bytes as in the journal: the pipeline decodes each distinct text once.

    ``agent``: the user agent and the language, see `analytics.journal.agents`.
    """

    time: int
    subject: int
    kind: int
    flags: int
    address: bytes
    reason: bytes
    agent: bytes
    referrer: bytes
    origin: Origin | None = None

    @property
    def frame_bytes(self) -> int:
        """The size of the frame that the record had at its origin."""
        return _HEADER.size + _FIXED.size + sum(map(len, self[4:8]))


class Corrupt(Exception):
    """No writer can have produced the bytes at ``position``."""

    def __init__(self, position: int) -> None:
        super().__init__(f"damaged at byte {position}")
        self.position = position


def encode(record: Record) -> bytes:
    return encode_fields(
        record.time,
        record.subject,
        record.kind,
        record.flags,
        record.address.encode(),
        with_language(short_agent(record.user_agent.encode()), record.language.encode()),
        record.referrer.encode(),
        record.reason.encode(),
    )


def encode_fields(  # noqa: PLR0917 # hot path: keyword arguments would double its cost
    time: int,
    subject: int,
    kind: int,
    flags: int,
    address: bytes,
    agent: bytes,
    referrer: bytes,
    reason: bytes = b"",
) -> bytes:
    """Encode a record whose text fields are bytes already, and ``agent`` as in `Fields`."""
    fixed = _FIXED.pack(time, subject, kind, flags, len(address), len(reason), len(agent), len(referrer))
    return fixed + address + reason + agent + referrer


def fields_of(payload: bytes) -> Fields:
    """Raises ValueError if the payload cannot be a record. The texts may be invalid all the same."""
    try:
        time, subject, kind, flags, address, reason, agent, referrer = _unpack_fixed(payload)
        address_end = _FIXED_BYTES + address
        reason_end = address_end + reason
        agent_end = reason_end + agent
        referrer_end = agent_end + referrer
        origin = None
        if flags & _HAS_ORIGIN:
            segment, end = _ORIGIN.unpack_from(payload, referrer_end)
            origin = Origin(uuid.UUID(bytes=segment), end)
    except error as problem:
        raise ValueError(str(problem)) from None
    return _new(
        Fields,
        (
            time,
            subject,
            kind,
            flags,
            payload[_FIXED_BYTES:address_end],
            payload[address_end:reason_end],
            payload[reason_end:agent_end],
            payload[agent_end:referrer_end],
            origin,
        ),
    )


def decode(payload: bytes) -> Record:
    """Raises ValueError if the payload is not a record."""
    time, subject, kind, flags, address, reason, recorded, referrer, origin = fields_of(payload)
    agent, language = agent_and_language(recorded)
    return Record(
        time,
        subject,
        kind,
        flags,
        address.decode(),
        reason.decode(),
        agent.decode(),
        referrer.decode(),
        origin,
        language.decode(),
    )


def with_flag(payload: bytes, flag: int) -> bytes:
    changed = bytearray(payload)
    changed[_FLAGS] |= flag
    return bytes(changed)


def subject_and_kind(payload: bytes) -> tuple[int, int]:
    """Read link id and kind of an encoded record without decoding the rest."""
    subject, kind = _SUBJECT_AND_KIND.unpack_from(payload)
    return subject, kind


def frame(payload: bytes) -> bytes:
    return _HEADER.pack(len(payload), len(payload) ^ 0xFFFF, crc32c(payload)) + payload


def frame_with_origin(payload: bytes, origin: Origin) -> bytes:
    """The frame of a record that is rewritten to another segment. A record that has an origin keeps it."""
    if payload[_FLAGS] & _HAS_ORIGIN:
        return frame(payload)
    changed = with_flag(payload, _HAS_ORIGIN)
    return frame(changed + _ORIGIN.pack(origin.segment.bytes, origin.end))


def origins(frames: Iterable[Framed]) -> set[uuid.UUID]:
    """The segments that rewritten records among ``frames`` name as their origin."""
    return {
        uuid.UUID(bytes=_ORIGIN.unpack_from(payload, len(payload) - _ORIGIN.size)[0])
        for payload, _ in frames
        if len(payload) >= _FIXED.size + _ORIGIN.size and payload[_FLAGS] & _HAS_ORIGIN
    }


class Framed(NamedTuple):
    """A payload and the end offset of its frame."""

    payload: bytes
    end: int


def begins_with_frame(data: bytes) -> bool:
    try:
        return bool(read_frames(data, 1))
    except Corrupt:
        return False


def begins_with_unfinished(data: bytes) -> bool:
    """Whether ``data``, the tail of a file, can be the start of an incomplete frame."""
    if len(data) < _HEADER.size:
        return True
    length, complement, _ = _HEADER.unpack_from(data)
    is_unfinished: bool = length ^ complement == 0xFFFF and _HEADER.size + length > len(data)
    return is_unfinished


def read_frames(data: bytes, limit: int, position: int = 0) -> list[Framed]:
    """Read at most ``limit`` complete frames from the start of ``data``, which is at this position of a file.

    The bytes after the last complete frame are an incomplete record, or damage that the next call reports. Raises
    Corrupt if the first frame is damaged.
    """
    frames: list[Framed] = []
    unpack, header, size = _HEADER.unpack_from, _HEADER.size, len(data)
    start = 0
    while len(frames) < limit and size - start >= header:
        length, complement, checksum = unpack(data, start)
        begin = start + header
        end = begin + length
        payload = data[begin:end]
        is_valid = length ^ complement == 0xFFFF and (end > size or crc32c(payload) == checksum)
        if not is_valid and not frames and any(data[start:]):
            raise Corrupt(position + start)
        # A tail of zeros is not damage: a power cut leaves it if the file had grown but its data was not written.
        if not is_valid or end > size:
            break
        frames.append(_new(Framed, (payload, position + end)))
        start = end
    return frames


def recover(data: bytes) -> tuple[bytes | None, int] | None:
    """How to go on behind damage at the start of ``data``: with the payload of the record there, if only its length is
    damaged, and at the position of the next one. None: no intact record follows.

    Visitors choose parts of the records, and could write the bytes of a frame into them. So the lengths of the damaged
    record come first, and a search byte by byte last.
    """
    size = len(data)
    if size < _HEADER.size:
        return None
    length, complement, checksum = _HEADER.unpack_from(data)
    ends = [_HEADER.size + possible for possible in sorted({length, complement ^ 0xFFFF})]
    # A record whose payload is damaged may be followed by another one.
    is_length_certain = len(ends) == 1
    ends = [end for end in ends if end <= size]
    for end in ends:
        payload = data[_HEADER.size : end]
        if crc32c(payload) == checksum and _is_record(payload):
            return payload, end
    for end in ends:
        is_followed = is_length_certain and _has_consistent_length(data, end)
        if end == size or is_followed or _begins_with_record(data, end):
            return None, end
    for start in range(1, size - _HEADER.size):
        if _has_consistent_length(data, start) and _begins_with_record(data, start):
            return None, start
    return None


def _has_consistent_length(data: bytes, start: int) -> bool:
    if start + LENGTH_BYTES > len(data):
        return False
    return data[start] ^ data[start + 2] == 0xFF and data[start + 1] ^ data[start + 3] == 0xFF


def _begins_with_record(data: bytes, start: int) -> bool:
    framed = data[start : start + MAX_FRAME_BYTES]
    return begins_with_frame(framed) and _is_record(read_frames(framed, 1)[0].payload)


def _is_record(payload: bytes) -> bool:
    try:
        decode(payload)
    except (ValueError, error):
        return False
    return True
