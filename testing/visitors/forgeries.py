"""Headers with forged client addresses, and the addresses that the journal recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from analytics.journal.records import Record, decode, read_frames
from analytics.journal.writer import SUFFIX

FORGERIES = (
    "x-forwarded-for: {0}", "x-forwarded-for: {0}, 10.0.0.1", "x-forwarded-for: 127.0.0.1, {0}",
    "x-forwarded-for: {0}:1234", "x-forwarded-for: [2001:db8::{1:x}]", "x-forwarded-for: [2001:db8::{1:x}]:80",
    "x-forwarded-for: ::ffff:{0}", "x-forwarded-for: unknown, {0}", "x-forwarded-for: ,{0},",
    "x-forwarded-for: {0} {0}",
    "x-real-ip: {0}", "forwarded: for={0}", 'forwarded: for="[2001:db8::{1:x}]:80";proto=https', "client-ip: {0}",
    "true-client-ip: {0}", "cf-connecting-ip: {0}", "x-client-ip: {0}", "x-cluster-client-ip: {0}",
    "fastly-client-ip: {0}", "x-original-forwarded-for: {0}",
)  # fmt: skip


def forged(form: str, number: int) -> str:
    """A header line. Each number results in an address of a different network."""
    return form.format(f"198.{number % 250}.{number // 250}.7", number)


def records(clicks_dir: Path, since: Mapping[Path, int] | None = None) -> list[Record]:
    """All records in the journal, or those after the lengths of its segments at an earlier time."""
    segments = [
        path.read_bytes()[(since or {}).get(path, 0) :] for path in sorted(clicks_dir.glob(f"*{SUFFIX}"))
    ]
    return [decode(framed.payload) for data in segments for framed in read_frames(data, 100_000)]


def segment_lengths(clicks_dir: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in clicks_dir.glob(f"*{SUFFIX}")}
