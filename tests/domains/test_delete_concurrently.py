"""Domains are deleted beside changes of their links."""

from __future__ import annotations

from functools import partial

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Code, Link
from testing.domains.domains import active_domain
from testing.links.calls import rename, whole
from testing.threads import at_once
from tests.domains.deletions import HOST, create, created, delete, totals_are_consistent
from tests.domains.deletions import brand as brand

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 10


@pytest.mark.slow
def test_links_created_concurrently_move_or_are_refused(api: APIClient, alice: NewAccount) -> None:
    for turn in range(ROUNDS):
        brand = active_domain(alice.workspace, HOST)
        makers = [partial(create, api, f"t{turn}n{number}", brand) for number in range(6)]
        deleted, *created = at_once([partial(delete, api, brand), *makers])
        assert deleted.status_code == 200
        assert {response.status_code for response in created} <= {201, 404}, turn
        for response in created:
            if response.status_code == 201:
                assert whole(api, response.json()["data"]["url"])["domainId"] == "base"
            else:
                assert response.json()["message"] == "Domain not found."
        assert totals_are_consistent()
    assert not Code.objects.exclude(domain=None).exists()


@pytest.mark.slow
def test_links_edited_concurrently_move_with_their_changes(api: APIClient, alice: NewAccount) -> None:
    for turn in range(ROUNDS):
        brand = active_domain(alice.workspace, HOST)
        links = [created(api, f"t{turn}n{number}", brand) for number in range(6)]
        responses = at_once(
            [
                partial(delete, api, brand),
                *(partial(rename, api, link, f"r{turn}n{number}") for number, link in enumerate(links[:3])),
                partial(api.put, f"/api/urls/{links[3]['_id']}", {"title": "changed"}),
                partial(api.delete, f"/api/urls/{links[4]['_id']}"),
            ]
        )
        assert [response.status_code for response in responses] == [200] * 6, turn
        for number, link in enumerate(links[:3]):
            assert whole(api, link)["shortUrl"] == f"http://sho.rt/r{turn}n{number}"
        assert whole(api, links[3])["title"] == "changed"
        assert totals_are_consistent()
    assert not Code.objects.exclude(domain=None).exists()


@pytest.mark.slow
def test_two_domains_with_the_same_codes_can_be_deleted_concurrently(
    api: APIClient, strange_api: APIClient, alice: NewAccount, stranger: NewAccount
) -> None:
    for turn in range(ROUNDS):
        pairs = [
            (api, active_domain(alice.workspace, "one.example")),
            (strange_api, active_domain(stranger.workspace, "two.example")),
        ]
        order = [f"t{turn}n{number}" for number in range(8)]
        for (client, domain), codes_ in zip(pairs, (order, order[::-1]), strict=True):
            for code in codes_:
                created(client, code, domain)
        responses = at_once([partial(delete, client, domain) for client, domain in pairs])
        assert [response.status_code for response in responses] == [200, 200]
        assert Link.objects.filter(custom_code__in=order).count() == 8
    assert totals_are_consistent()


def test_one_of_many_concurrent_deletions_succeeds(api: APIClient, alice: NewAccount) -> None:
    for _ in range(ROUNDS):
        brand = active_domain(alice.workspace, HOST)
        responses = at_once([partial(delete, api, brand)] * 4)
        statuses = sorted(response.status_code for response in responses)
        assert statuses[0] == 200
        assert set(statuses) <= {200, 404}
