"""Claims in groups are as exact as single ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.journal.capture import KINDS, record_claimed_clicks
from analytics.journal.pending import open_record, take_pending
from analytics.journal.records import COUNTED, Record, decode, encode
from bans.services import ban_account, ban_host
from common.host import primary
from common.host.primary import Verdict
from links.availability import Closed
from links.clicks import NotClaimed
from links.models import ClickCounter, Link
from links.operators import ban_link
from testing.analytics.clicks import drain
from testing.connections import closed_connection as closed_connection
from testing.polling import DEADLINE

MakeLink = Callable[..., dict[str, Any]]
THREADS, GROUPS, GROUP = 4, 20, 30

pytestmark = pytest.mark.django_db(transaction=True)


def visit(link: Link, number: int = 0) -> bytes:
    return encode(
        Record(1_700_000_000_000_000 + number, link.pk, KINDS["click"], 0, "192.0.2.1", "", "Firefox", "")
    )


def claim_until_unlocked(records: Sequence[bytes]) -> list[Closed | None]:
    """Repeat the group while other groups hold the locks for longer than it waits."""
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            return record_claimed_clicks(records)
        except NotClaimed:
            if time.monotonic() > deadline:
                raise


@pytest.fixture
def make_capped(make_link: MakeLink) -> Callable[[int], Link]:
    def make(max_clicks: int, **fields: Any) -> Link:
        code = make_link(restrictions={"maxClicks": max_clicks}, **fields)["shortCode"]
        return Link.objects.get(short_code=code)

    return make


def clicks_of(*links: Link) -> list[int]:
    counted = dict(ClickCounter.objects.values_list("link_id", "clicks"))
    return [counted[link.pk] for link in links]


def test_each_link_grants_the_clicks_that_it_has_left_in_the_order_of_the_visits(
    make_capped: Callable[[int], Link],
) -> None:
    few, many, none = make_capped(2), make_capped(100), make_capped(1)
    record_claimed_clicks([visit(none)])
    visits = [few, many, few, none, many, few]

    claimed = record_claimed_clicks([visit(link, number) for number, link in enumerate(visits)])

    assert claimed == [None, None, None, Closed.LIMIT_REACHED, None, Closed.LIMIT_REACHED]
    assert clicks_of(few, many, none) == [2, 2, 1]


def test_exactly_the_claimed_clicks_are_recorded(make_capped: Callable[[int], Link]) -> None:
    link, other = make_capped(2), make_capped(5)

    record_claimed_clicks([visit(link, 0), visit(link, 1), visit(link, 2), visit(other, 3)])

    records = [decode(open_record(record)) for record in take_pending(10)]
    assert [(record.subject, record.time % 10, record.flags) for record in records] == [
        (link.pk, 0, COUNTED), (link.pk, 1, COUNTED), (other.pk, 3, COUNTED),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"isActive": False}, Closed.DISABLED),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, Closed.EXPIRED),
        ({"startsAt": "2099-01-01T00:00:00Z"}, Closed.NOT_STARTED),
        ({"restrictions": {"maxClicks": 5, "maxClicksPerVisitor": 1}}, Closed.VISITOR_LIMIT_REACHED),
    ],
)
def test_a_link_that_changed_meanwhile_grants_no_click(
    change: dict[str, Any], reason: Closed, make_capped: Callable[[int], Link], api: APIClient
) -> None:
    link, other = make_capped(5), make_capped(5)
    assert api.put(f"/api/urls/{link.public_id}", change).status_code == 200

    assert record_claimed_clicks([visit(link), visit(other)]) == [reason, None]
    assert clicks_of(link, other) == [0, 1]


def test_deleted_and_banned_links_grant_no_click(
    make_capped: Callable[..., Link], alice: NewAccount, api: APIClient
) -> None:
    deleted, banned, other = make_capped(5), make_capped(5), make_capped(5)
    to_banned_host = make_capped(5, original_url="https://www.banned.example/page")
    links = [deleted, banned, to_banned_host, other]
    assert api.delete(f"/api/urls/{deleted.public_id}").status_code == 200
    ban_link(link=banned, reason="Legal")
    gone, legal, other_ban = Closed.DELETED, Closed.LEGAL, Closed.BANNED

    assert record_claimed_clicks([visit(link) for link in links]) == [gone, legal, None, None]
    ban_host(host="banned.example")
    assert record_claimed_clicks([visit(link) for link in links]) == [gone, legal, other_ban, None]
    ban_account(owner=alice.workspace)
    assert record_claimed_clicks([visit(link) for link in links]) == [gone, legal, other_ban, other_ban]


def test_concurrent_groups_claim_exactly_the_limit(make_capped: Callable[[int], Link]) -> None:
    """Groups of several links in different orders: they must neither claim too many clicks nor deadlock."""
    links = [make_capped(limit) for limit in (1, 50, 333, 100_000)]
    barrier = threading.Barrier(THREADS)

    def claim(thread: int) -> list[tuple[int, bool]]:
        barrier.wait()
        results = []
        for number in range(GROUPS):
            visits = [links[(place * (thread + 1) + number) % len(links)] for place in range(GROUP)]
            claimed = claim_until_unlocked([visit(link) for link in visits])
            results += [(link.pk, closed is None) for link, closed in zip(visits, claimed, strict=True)]
        connection.close()
        return results

    with ThreadPoolExecutor(THREADS) as pool:
        results = [result for of_thread in pool.map(claim, range(THREADS)) for result in of_thread]

    tried = [sum(pk == link.pk for pk, _ in results) for link in links]
    claimed = [sum(pk == link.pk and is_claimed for pk, is_claimed in results) for link in links]
    assert claimed == [min(link.max_clicks or 0, number) for link, number in zip(links, tried, strict=True)]
    assert clicks_of(*links) == claimed
    drain()
    assert clicks_of(*links) == claimed


def test_a_group_that_waits_for_a_lock_claims_nothing(make_capped: Callable[[int], Link]) -> None:
    link, other = make_capped(5), make_capped(5)
    parameters = {**connection.get_connection_params(), "cursor_factory": psycopg.Cursor}
    with psycopg.connect(**parameters) as holder:
        holder.execute("SELECT FROM links_clickcounter WHERE link_id = %s FOR UPDATE", [link.pk])

        with pytest.raises(NotClaimed):
            record_claimed_clicks([visit(other), visit(link)])

    assert clicks_of(link, other) == [0, 0]
    assert claim_until_unlocked([visit(other), visit(link)]) == [None, None]


@pytest.mark.usefixtures("own_host_memory")
def test_claims_after_a_failover_use_a_new_connection(make_capped: Callable[[int], Link]) -> None:
    link = make_capped(5)
    connection.close()
    assert record_claimed_clicks([visit(link)]) == [None]
    former = connection.connection

    assert (record_claimed_clicks([visit(link)]), connection.connection is former) == ([None], True)
    assert primary.admit(primary.number_of(7, 1)) is Verdict.OTHER
    assert (record_claimed_clicks([visit(link)]), connection.connection is former) == ([None], False)
