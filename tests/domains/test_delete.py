from __future__ import annotations

from functools import partial

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Code, Link
from testing.domains.domains import active_domain
from testing.links.calls import rename, whole
from testing.threads import at_once
from tests.domains.deletions import HOST, URL, create, created, delete, deleted, totals_are_consistent
from tests.domains.deletions import brand as brand

pytestmark = pytest.mark.django_db(transaction=True)


def codes() -> set[tuple[str | None, str, str]]:
    return set(Code.objects.values_list("domain__host", "code", "kind"))


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


MANY, FEW = 5_000, 7


def insert_links(owner: NewAccount, domain: Domain) -> None:
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
            {"owner": owner.user.pk, "domain": domain.pk, "many": MANY},
        )


@pytest.mark.slow
def test_many_links_move_in_one_deletion(api: APIClient, alice: NewAccount, brand: Domain) -> None:
    # A session keeps the plans that it has made for few links, in tables that were small then.
    created(api, "first", brand)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE links_link, links_code, links_searchable, links_ownertotals")
    for number in range(FEW):
        few = active_domain(alice.workspace, f"few{number}.example")
        created(api, f"few{number}", few)
        deleted(api, few)
    # In a session of its own, which checks the foreign keys with a plan for many rows.
    at_once([partial(insert_links, alice, brand)])
    created(api, "custom100007")
    assert "1 custom code was" in deleted(api, brand)
    assert Link.objects.filter(domain=None).count() == MANY + FEW + 2
    assert Link.objects.filter(custom_code=None).count() == 1
    assert totals_are_consistent()
