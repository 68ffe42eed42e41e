"""An event for each counted click of a workspace that listens, written in the transaction that counts the click.

Where nobody listens to clicks, a batch only reads a small table. Where many do, every call counts: the data of a click
are composed of texts that clicks share.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, KeysView, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import blake2b
from struct import Struct
from time import monotonic, time_ns
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from django.conf import settings

from analytics.channels import QR, channel_of
from analytics.counting.enrichment import Facts
from analytics.dimensions import DIRECT, UNKNOWN, UNKNOWN_BRANCH
from analytics.models import Kind
from common.database import copy_rows, integer_array, prepared_cursor
from common.secrets import derive_key
from events.types import EventType

_LISTENERS = f"""
SELECT workspace_id FROM events_listener WHERE '{EventType.LINK_CLICKED}' = ANY (feed_types || webhook_types)
"""  # noqa: S608 # built from constants
# A snapshot has a link in one of the two tables, also while it is deleted or undeleted.
_LINKS = """
SELECT id, public_id, coalesce(custom_code, short_code) FROM links_link WHERE id = ANY (%(links)s::bigint[])
UNION ALL
SELECT link_id, public_id, coalesce(link ->> 'custom_code', link ->> 'short_code') FROM links_deletedlink
WHERE link_id = ANY (%(links)s::bigint[])
"""
_NEXT_IDS = "SELECT nextval('analytics_rawclick_id_seq') FROM generate_series(1, %s)"
_POSITION = "SELECT events_position()"
_ROWS = "events_event (id, position, workspace_id, type, link_id, data)"
_TYPE = EventType.LINK_CLICKED.encode()
# Each value after its size; the first has the number of columns before it. A jsonb begins with its version.
_pack_id = Struct(">hiQQ").pack
_pack_link = Struct(f">iqiqi{len(_TYPE)}siq").pack
_pack_size = Struct(">iB").pack
_CLICK = int(Kind.CLICK)


# Links as their events have them. Their codes may change: a former one leads to the link, too, but not for long.
_KNOWN_SECONDS = 60.0
_MOST_KNOWN = 100_000


def click_listeners() -> set[int]:
    """The workspaces that listen to clicks."""
    with prepared_cursor() as cursor:
        cursor.execute(_LISTENERS)
        return {owner for (owner,) in cursor.fetchall()}


def next_click_ids(number: int) -> list[int]:
    """Ids of new clicks, which their events have, too."""
    with prepared_cursor() as cursor:
        cursor.execute(_NEXT_IDS, [number])
        return [click for (click,) in cursor.fetchall()]


def emit_clicks(
    batch: Sequence[Facts],
    ids: Sequence[int],
    branches: Mapping[int, UUID],
    owners: Mapping[int, int],
) -> None:
    """Store the events of the clicks on these links, which have these owners. The links cannot be deleted meanwhile.

    ``ids`` of the requests, and ``branches``, are by their places.
    """
    links = _links.members(owners.keys())
    with prepared_cursor() as cursor:
        cursor.execute(_POSITION)
        [(position,)] = cursor.fetchall()
    heads = {
        link: (_pack_link(8, position, 8, owner, len(_TYPE), _TYPE, 8, link), links[link])
        for link, owner in owners.items()
    }
    hasher, random = _hasher(settings.SECRET_KEY), os.urandom(8 * len(batch))
    # UUIDv7s in the order of the batch, each 1/4096 of a millisecond after the one before.
    moment = time_ns() * 4096 // 1_000_000
    rows: list[bytes] = []
    for place, facts in enumerate(batch):
        time, link_id, kind, _, _, client, where, referrer, _, scanned, _, _ = facts
        if kind != _CLICK or link_id not in heads:
            continue
        head, of_link = heads[link_id]
        click = hasher.copy()
        click.update(ids[place].to_bytes(8))
        second, microsecond = divmod(time, 1_000_000)
        fraction = f".{microsecond:06}" if microsecond else ""
        branch = branches.get(place)
        data = b"".join(
            (
                f'{{"id":"{click.hexdigest()}","time":"{_second(second)}{fraction}Z",'.encode(),
                of_link,
                _client(client),
                _place(where),
                _origin(referrer, scanned),
                f'"branch":"{branch.hex}"}}'.encode()
                if branch and branch != UNKNOWN_BRANCH
                else b'"branch":null}',
            )
        )
        moment += 1
        high = moment >> 12 << 16 | 0x7000 | moment & 0xFFF
        low = int.from_bytes(random[8 * place : 8 * place + 8]) >> 2 | 1 << 63
        rows.append(b"".join((_pack_id(6, 16, high, low), head, _pack_size(len(data) + 1, 1), data)))
    if rows:
        copy_rows(_ROWS, rows)


class _Links:
    """What events say of links, as members of a JSON object. Not thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._since = 0.0

    def members(self, links: KeysView[int]) -> Mapping[int, bytes]:
        missing = links - self._known.keys()
        if len(missing) + len(self._known) > _MOST_KNOWN or monotonic() > self._since + _KNOWN_SECONDS:
            self.clear()
            missing = set(links)
        if missing:
            with prepared_cursor() as cursor:
                cursor.execute(_LINKS, {"links": integer_array(missing)})
                for link, public_id, code in cursor.fetchall():
                    self._known[link] = _members([("linkId", str(public_id)), ("code", code)])
        return self._known

    def clear(self) -> None:
        self._known.clear()
        self._since = monotonic()


_links = _Links()
# The next database may have other links.
forget_links = _links.clear


def public_click_id(number: int, secret: str = "") -> str:
    """A keyed hash: the id itself would reveal the number of clicks on the whole installation."""
    click = _hasher(secret or settings.SECRET_KEY).copy()
    click.update(number.to_bytes(8))
    return click.hexdigest()


@cache
def _hasher(secret: str) -> blake2b:
    return blake2b(digest_size=16, key=derive_key(secret, "click-id"))


@lru_cache(maxsize=512)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _members(pairs: Iterable[tuple[str, object]]) -> bytes:
    """Members of a JSON object, with a comma after each."""
    return orjson.dumps(dict(pairs))[1:-1] + b","


@lru_cache(maxsize=8192)
def _client(text: str) -> bytes:
    device, system, browser = text.split("\t")[:3]
    return _members([("device", device), ("operatingSystem", system), ("browser", browser)])


@lru_cache(maxsize=8192)
def _place(text: str) -> bytes:
    where, _, region = text.partition("\t")
    country, _, city = where.partition(" ")
    return _members([("country", country), ("region", region or UNKNOWN), ("city", city)])


@lru_cache(maxsize=8192)
def _origin(referrer: str, scanned: bool) -> bytes:
    """``referrer`` is without parts that may be personal: reports have its host."""
    site = referrer
    if referrer not in ("", UNKNOWN):
        site = urlsplit(referrer).netloc.removeprefix("www.")
    channel = QR if scanned else channel_of(site or DIRECT)
    return _members([("referrer", site or DIRECT), ("channel", channel), ("isScan", scanned)])
