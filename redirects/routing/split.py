"""Divides visitors among the variants of a link, without a cookie and without storing anything."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from django.conf import settings

from common.secrets import derive_key

POINTS = 10_000
_POINTS_PER_PERCENT = POINTS // 100


class Split:
    """``weights``: percentages in the order of the variants, at most 100 in total."""

    __slots__ = ("_hash", "_limits", "_link_id")

    def __init__(self, link_id: int, weights: Sequence[int]) -> None:
        self._hash = _hash_of(settings.SECRET_KEY)
        self._link_id = link_id
        self._limits: list[int] = []
        total = 0
        for weight in weights:
            total += weight * _POINTS_PER_PERCENT
            self._limits.append(total)

    def variant_of(self, address: str, user_agent: str) -> int | None:
        """Return the index of the visitor's variant; None for the share that the weights leave to the target.

        Each variant has a range of points. A visitor keeps the same point, so another weight moves only visitors next
        to the ranges' limits.
        """
        index = bisect_right(self._limits, self.point_of(address, user_agent))
        return index if index < len(self._limits) else None

    def point_of(self, address: str, user_agent: str) -> int:
        """Return the visitor's point for this link, from 0 to 9,999.

        Keyed, so that nobody outside can choose a variant; with the link's number, so that the splits of two links
        are independent.
        """
        visitor = self._hash.copy()
        visitor.update(f"{self._link_id}|{address}|{user_agent}".encode())
        return int.from_bytes(visitor.digest()) % POINTS


@lru_cache(maxsize=4)
def _hash_of(secret: str) -> blake2b:
    """All splits share it, and copy it for each visitor: a new keyed hash takes twice as long."""
    return blake2b(digest_size=8, key=derive_key(secret, "split"))
