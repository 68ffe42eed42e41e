"""A lookup of many links returns the results of as many lookups of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.services import NewAccount
from bans.services import ban_host
from domains.models import Domain
from links.destinations.batch_lookup import Key, load_targets, read_targets
from links.destinations.known_links import known_links
from links.destinations.lookup import Target, read_target, recall_target
from testing.links.many import URL
from testing.links.routing_fields import EVERYTHING

MakeLink = Callable[..., dict[str, Any]]
OWN, CUSTOM, INACTIVE, PENDING = "sho.rt", "go.example.com", "old.example.com", "new.example.com"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keys(alice: NewAccount, make_link: MakeLink) -> list[Key]:
    """Links of every kind, codes without a link, and a host without a domain."""
    Domain.objects.create(
        owner=alice.workspace, domain=CUSTOM, host=CUSTOM, status="active", expired_url="https://over.example/",
        not_found_url="https://elsewhere.example/",
    )  # fmt: skip
    domain = Domain.objects.get(host=CUSTOM)
    Domain.objects.create(owner=alice.workspace, domain=INACTIVE, host=INACTIVE, status="inactive")
    Domain.objects.create(owner=alice.workspace, domain=PENDING, host=PENDING, status="pending")
    on_domain = make_link(customCode="there", domainId=str(domain.public_id))
    own = [
        make_link(customCode="plain"), make_link(customCode="every", **EVERYTHING), make_link(isActive=False),
        make_link(restrictions={"maxClicks": 2, "blockedCountries": ["US"]}, password="secret"),
        make_link("https://banned.example/page"), make_link(utm={"source": "x"}, redirectType=301),
    ]  # fmt: skip
    ban_host(host="banned.example")
    codes = [
        "plain",
        "every",
        "there",
        "nothing",
        on_domain["shortCode"],
        *(link["shortCode"] for link in own),
    ]
    return [(host, code) for code in codes for host in (OWN, CUSTOM, INACTIVE, PENDING, "no.example")]


def test_results_equal_those_of_single_lookups(keys: list[Key]) -> None:
    results = dict(read_targets(keys))

    assert [results[place] for place in range(len(keys))] == [read_target(*key) for key in keys]
    assert sum(isinstance(result, Target) for result in results.values()) == 10


def test_a_key_may_occur_twice(make_link: MakeLink) -> None:
    key = (OWN, make_link(URL)["shortCode"])

    assert load_targets([key, (OWN, "nothing"), key]) == [
        read_target(*key),
        read_target(OWN, "nothing"),
        read_target(*key),
    ]


def test_many_links_take_one_query_for_own_hosts_and_one_for_custom_hosts(keys: list[Key]) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        load_targets(keys)

    assert len(queries) == 2


def test_the_host_remembers_each_link_of_a_batch_but_no_capped_one(keys: list[Key]) -> None:
    results = load_targets(keys)
    known_links().flush()

    assert [recall_target(*key) for key in keys] == [
        result if isinstance(result, Target) and result.max_clicks is None else None for result in results
    ]
