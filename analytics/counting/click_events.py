"""An event for each counted click of a workspace that listens, written in the transaction that counts the click.

Where nobody listens to clicks, a batch only reads a small table. Where many do, every call counts: the data of a click
are composed of texts that clicks share, in the order of `CLICK_DATA`.
"""

from __future__ import annotations

from collections.abc import KeysView, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from secrets import randbits
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
SELECT id, public_id::text, to_json(coalesce(custom_code, short_code))::text
FROM links_link WHERE id = ANY (%(links)s::bigint[])
UNION ALL
SELECT link_id, public_id::text, to_json(coalesce(link ->> 'custom_code', link ->> 'short_code'))::text
FROM links_deletedlink WHERE link_id = ANY (%(links)s::bigint[])
"""
_NEXT_IDS = "SELECT nextval('analytics_rawclick_id_seq') FROM generate_series(1, %s)"
# Before the position is read: whoever changes what positions are waits for this lock, see events_align.
_LOCK = "LOCK TABLE events_event IN ROW EXCLUSIVE MODE"
_POSITION = "SELECT events_position()"
_ROWS = "events_event (position, workspace_id, type, link_id, id, data)"
_TYPE = EventType.LINK_CLICKED.encode()
# Each value after its size; the first has the number of columns before it.
_pack_owner = Struct(f">hiqiqi{len(_TYPE)}s").pack
_pack_link = Struct(">iq").pack
_pack_id_and_size = Struct(">iQQi").pack
_CLICK = int(Kind.CLICK)


# Links as their events have them. Their codes may change: a former one leads to the link, too, but not for long.
_KNOWN_SECONDS = 60.0
_MOST_KNOWN = 200_000


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
    links = _links.items(owners.keys())
    with prepared_cursor() as cursor:
        cursor.execute(_LOCK)
        cursor.execute(_POSITION)
        [(position,)] = cursor.fetchall()
    of_owners = {
        owner: _pack_owner(6, 8, position, 8, owner, len(_TYPE), _TYPE) for owner in set(owners.values())
    }
    heads = {link: (of_owners[owner] + _pack_link(8, link), links[link]) for link, owner in owners.items()}
    hasher = _hasher(settings.SECRET_KEY)
    # UUIDv7s in the order of the batch: a number that begins at random, with room to count up.
    high = time_ns() // 1_000_000 << 16 | 0x7000 | randbits(12)
    low = 1 << 63 | randbits(61)
    rows: list[bytes] = []
    # Hot path: each look-up of an attribute counts.
    for place, (facts, number) in enumerate(zip(batch, ids, strict=True)):
        time, link_id, kind, _, _, client, where, referrer, _, scanned, _, _ = facts
        if kind != _CLICK or link_id not in heads:
            continue
        head, of_link = heads[link_id]
        click = hasher.copy()
        click.update(number.to_bytes(8))
        branch = "null"
        if place in branches and branches[place] != UNKNOWN_BRANCH:
            branch = f'"{branches[place].hex}"'
        data = (
            f'["{click.hexdigest()}",{time},{of_link}{_client(client)}{_place(where)}'
            f"{_origin(referrer, scanned)}{branch}]"
        ).encode()
        rows += head, _pack_id_and_size(16, high, low + place, len(data)), data
    if rows:
        copy_rows(_ROWS, rows)


class _Links:
    """What events say of links, as items of a JSON list. Not thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._since = 0.0

    def items(self, links: KeysView[int]) -> Mapping[int, str]:
        missing = links - self._known.keys()
        if len(missing) + len(self._known) > _MOST_KNOWN or monotonic() > self._since + _KNOWN_SECONDS:
            self.clear()
            missing = set(links)
        if missing:
            with prepared_cursor() as cursor:
                cursor.execute(_LINKS, {"links": integer_array(missing)})
                for link, public_id, code in cursor.fetchall():
                    self._known[link] = f'"{public_id}",{code},'
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


def _items(*values: object) -> str:
    """Items of a JSON list, with a comma after each."""
    return orjson.dumps(values)[1:-1].decode() + ","


@lru_cache(maxsize=8192)
def _client(text: str) -> str:
    device, system, browser = text.split("\t")[:3]
    return _items(device, system, browser)


@lru_cache(maxsize=8192)
def _place(text: str) -> str:
    where, _, region = text.partition("\t")
    country, _, city = where.partition(" ")
    return _items(country, region or UNKNOWN, city)


@lru_cache(maxsize=8192)
def _origin(referrer: str, scanned: bool) -> str:
    """``referrer`` is without parts that may be personal: reports have its host."""
    site = referrer
    if referrer not in ("", UNKNOWN):
        site = urlsplit(referrer).netloc.removeprefix("www.")
    channel = QR if scanned else channel_of(site or DIRECT)
    return _items(site or DIRECT, channel, bool(scanned))
