from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Code, Link
from testing.domains.domains import active_domain
from testing.threads import at_once

HOST = "go.brand.example"
URL = "https://example.com/page"
ROUNDS = 10

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return active_domain(alice.workspace, HOST)


def create(client: APIClient, code: str | None = None, domain: Domain | None = None) -> Any:
    domain_id = "base" if domain is None else str(domain.public_id)
    return client.post("/api/urls", {"originalUrl": URL, "customCode": code, "domainId": domain_id})


def created(client: APIClient, code: str | None = None, domain: Domain | None = None) -> dict[str, Any]:
    response = create(client, code, domain)
    assert response.status_code == 201, response.content
    return response.json()["data"]["url"]


def rename(client: APIClient, link: dict[str, Any], code: str | None) -> Any:
    return client.put(f"/api/urls/{link['_id']}", {"customCode": code})


def whole(client: APIClient, link: dict[str, Any]) -> dict[str, Any]:
    return client.get(f"/api/urls/{link['_id']}").json()["data"]["url"]


def delete(client: APIClient, domain: Domain) -> Any:
    return client.delete(f"/api/domains/{domain.public_id}")


def deleted(client: APIClient, domain: Domain) -> str:
    response = delete(client, domain)
    assert response.status_code == 200, response.content
    assert response.json().keys() == {"success", "message"}
    return response.json()["message"]


def codes() -> set[tuple[str | None, str, str]]:
    return set(Code.objects.values_list("domain__host", "code", "kind"))


def totals_are_consistent() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM links_searchable s JOIN links_link l ON l.id = s.link_id"
            " WHERE s.content IS DISTINCT FROM links_content(l.title, l.original_url, l.target_url, l.destination,"
            " l.other_destinations, l.rules, l.split, l.short_code, l.custom_code)),"
            " (SELECT count(*) FROM links_link l WHERE l.custom_code IS NOT NULL AND NOT EXISTS"
            " (SELECT FROM links_code c WHERE c.link_id = l.id AND c.code = l.custom_code"
            " AND c.domain_id IS NOT DISTINCT FROM l.domain_id))"
        )
        return cursor.fetchone() == (0, 0)


def test_links_move_to_the_default_domain(api: APIClient, brand: Domain, visitor: Client) -> None:
    link = created(api, "spring", brand)
    plain = created(api, None, brand)
    rename(api, link, "summer")
    assert deleted(api, brand) == "Domain deleted successfully."
    after = whole(api, link)
    assert (after["domainId"], after["customCode"], after["shortUrl"]) == (
        "base",
        "summer",
        "http://sho.rt/summer",
    )
    assert after["updatedAt"] > after["createdAt"]
    assert codes() == {
        (None, link["shortCode"], "short"),
        (None, "spring", "alias"),
        (None, "summer", "custom"),
        (None, plain["shortCode"], "short"),
    }
    for code in ("spring", "summer", link["shortCode"], plain["shortCode"]):
        assert visitor.get(f"/{code}")["Location"] == URL
        assert visitor.get(f"/{code}", headers={"host": HOST}).status_code == 404
    assert api.get("/api/urls?search=summer").json()["data"]["pagination"]["total"] == 1
    assert totals_are_consistent()


def test_codes_taken_on_the_default_domain_are_dropped_and_counted(
    api: APIClient, strange_api: APIClient, brand: Domain, visitor: Client
) -> None:
    other_link = created(strange_api, "taken")
    created(strange_api, "former")
    link = created(api, "taken", brand)
    renamed = created(api, "former", brand)
    rename(api, renamed, "free")
    assert deleted(api, brand) == (
        "Domain deleted successfully. 2 custom codes were already taken on the default domain and dropped."
    )
    after = whole(api, link)
    assert (after["customCode"], after["shortUrl"]) == (None, f"http://sho.rt/{link['shortCode']}")
    assert whole(api, renamed)["customCode"] == "free"
    assert whole(strange_api, other_link)["customCode"] == "taken"
    assert {code for code in codes() if code[1] == "former"} == {(None, "former", "custom")}
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    assert api.get("/api/urls?search=taken").json()["data"]["pagination"]["total"] == 0
    assert totals_are_consistent()


def test_message_uses_the_singular_for_one_dropped_code(
    api: APIClient, strange_api: APIClient, brand: Domain
) -> None:
    created(strange_api, "taken")
    created(api, "taken", brand)
    assert deleted(api, brand) == (
        "Domain deleted successfully. 1 custom code was already taken on the default domain and dropped."
    )


def test_codes_held_for_the_owner_and_lapsed_holds_count_as_free(
    api: APIClient, strange_api: APIClient, brand: Domain
) -> None:
    for client, code in ((api, "own"), (strange_api, "lapsed"), (strange_api, "held")):
        assert client.delete(f"/api/urls/{created(client, code)['_id']}").status_code == 200
    Code.objects.filter(code="lapsed").update(held_until="2020-01-01T00:00:00Z")
    links = {code: created(api, code, brand) for code in ("own", "lapsed", "held")}
    assert "1 custom code was" in deleted(api, brand)
    assert [whole(api, link)["customCode"] for link in links.values()] == ["own", "lapsed", None]


def test_a_link_whose_custom_code_is_its_short_code_keeps_it(api: APIClient, brand: Domain) -> None:
    link = created(api, "first", brand)
    rename(api, link, link["shortCode"])
    assert deleted(api, brand) == "Domain deleted successfully."
    assert whole(api, link)["customCode"] == link["shortCode"]


def test_other_domains_and_links_stay_as_they_are(
    api: APIClient, strange_api: APIClient, alice: NewAccount, brand: Domain, visitor: Client
) -> None:
    other = active_domain(alice.workspace, "other.example")
    on_default, on_other = created(api, "same"), created(api, "same", other)
    created(api, "same", brand)
    before = whole(api, on_default), whole(api, on_other)
    assert "1 custom code was" in deleted(api, brand)
    assert (whole(api, on_default), whole(api, on_other)) == before
    assert visitor.get("/same", headers={"host": "other.example"}).status_code == 302


@pytest.mark.parametrize("status", ["pending", "active", "inactive"])
def test_a_domain_in_any_state_can_be_deleted_once(
    api: APIClient, strange_api: APIClient, brand: Domain, status: str
) -> None:
    link = created(api, "spring", brand)
    Domain.objects.update(status=status)
    assert delete(strange_api, brand).status_code == 404
    assert deleted(api, brand) == "Domain deleted successfully."
    assert whole(api, link)["domainId"] == "base"
    assert delete(api, brand).status_code == 404
    assert create(api, "late", brand).status_code == 404
    assert api.get("/api/domains").json()["data"]["domains"] == []


def test_deletion_by_sql_also_moves_the_links(api: APIClient, brand: Domain) -> None:
    link = created(api, "spring", brand)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM domains_domain")
    assert whole(api, link)["shortUrl"] == "http://sho.rt/spring"


def test_deleting_the_owner_deletes_everything(api: APIClient, alice: NewAccount, brand: Domain) -> None:
    created(api, "spring", brand)
    User.objects.get(pk=alice.user.pk).delete()
    assert (Domain.objects.count(), Link.objects.count(), Code.objects.count()) == (0, 0, 0)


MANY, FEW = 20_000, 7


def test_many_links_move_in_one_deletion(api: APIClient, alice: NewAccount, brand: Domain) -> None:
    # A session keeps the plans that it has made for few links, in tables that were small then.
    created(api, "first", brand)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE links_link, links_code, links_searchable, links_ownertotals")
    for number in range(FEW):
        few = active_domain(alice.workspace, f"few{number}.example")
        created(api, f"few{number}", few)
        deleted(api, few)
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH new AS (INSERT INTO links_link (public_id, owner_id, domain_id, short_code, custom_code,"
            " original_url, destination, tags, tag_keys, is_active, utm, allowed_countries, blocked_countries,"
            " allowed_devices, redirect_type)"
            " SELECT gen_random_uuid(), %(owner)s, %(domain)s, 's' || i, 'custom' || i,"
            " 'https://a.example', 'https://a.example/', '{}', '{}', true, '{}', '{}', '{}', '{}', 302"
            " FROM generate_series(100001, 100000 + %(many)s) i RETURNING id, short_code, custom_code)"
            " INSERT INTO links_code (domain_id, code, kind, link_id)"
            " SELECT %(domain)s::bigint, short_code, 'short', id FROM new UNION ALL"
            " SELECT %(domain)s::bigint, custom_code, 'custom', id FROM new UNION ALL"
            " SELECT NULL, short_code, 'reserved', id FROM new",
            {"owner": alice.user.pk, "domain": brand.pk, "many": MANY},
        )
    created(api, "custom100007")
    assert "1 custom code was" in deleted(api, brand)
    assert Link.objects.filter(domain=None).count() == MANY + FEW + 2
    assert Link.objects.filter(custom_code=None).count() == 1
    assert totals_are_consistent()


# Concurrency


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
