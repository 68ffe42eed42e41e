"""Moving a domain to another workspace, with all its links."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Change, ScopedKey, Workspace
from accounts.rights import Plan, Role, Scope
from accounts.services import NewAccount
from accounts.workspaces import change_plan
from bans.services import ban_account
from common.errors import ServiceError
from common.host import cache_versions
from common.http.urls import canonical_destination
from domains.models import Domain
from links.bulk.moving_domains import move_domain
from links.models import Code, Link
from links.selectors import totals
from links.services import create_link
from testing.accounts.accounts import key_client
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.clicks import drain
from testing.connections import is_a_connection_blocked
from testing.domains.domains import active_domain
from testing.links.calls import whole
from testing.links.many import UNKNOWN_ID, URL
from testing.polling import eventually
from testing.threads import at_once
from testing.visitors.agents import FIREFOX
from tests.links.moving.moves import inconsistencies

MakeLink = Callable[..., dict[str, Any]]
HOST = "go.brand.example"


def move(client: APIClient, domain: Domain, target: Workspace) -> Any:
    return client.post(f"/api/domains/{domain.public_id}/move", {"workspaceId": str(target.public_id)})


def follow(code: str) -> int:
    return Client(headers={"host": HOST, "user-agent": FIREFOX}).get(f"/{code}").status_code


def test_everything_of_the_domain_moves(
    api: APIClient,
    there: APIClient,
    alice: NewAccount,
    marketing: Workspace,
    make_link: MakeLink,
    brand: Domain,
) -> None:
    link = make_link(customCode="spring", tags=["x"], domainId=str(brand.public_id))
    other = make_link(customCode="spring", tags=["x"])
    code = api.post("/api/qr-codes", {"urlId": link["_id"]}).json()["data"]["qrCode"]
    api.patch(f"/api/domains/{brand.public_id}", {"rootUrl": "https://brand.example/"})
    settings_before = api.get(f"/api/domains/{brand.public_id}").json()["data"]["domain"]
    assert [follow(code) for code in ("spring", link["shortCode"])] == [302, 302]
    assert drain() == 2
    before, report = whole(api, link), api.get(f"/api/analytics/{link['_id']}").json()

    response = move(api, brand, marketing)
    assert (response.status_code, response.json()) == (
        200,
        {
            "success": True,
            "message": "Domain moved successfully.",
            "data": {
                "domain": {
                    "_id": str(brand.public_id), "fullDomain": HOST, "status": "active", "verified": True,
                },
                "links": 1,
            },
        },
    )  # fmt: skip
    after = whole(there, link)
    assert after == {**before, "updatedAt": after["updatedAt"]}
    assert there.get(f"/api/analytics/{link['_id']}").json() == report
    assert there.get(f"/api/domains/{brand.public_id}").json()["data"]["domain"] == settings_before
    assert there.get(f"/api/qr-codes/{code['_id']}").json()["data"]["qrCode"] == code
    assert [follow(code) for code in ("spring", link["shortCode"])] == [302, 302]
    assert drain() == 2
    assert (totals(alice.workspace), totals(marketing)) == ((1, 1, 0), (1, 1, 4))
    assert inconsistencies() == []
    # The former workspace keeps its other links, and knows the domain no more.
    assert [url["_id"] for url in api.get("/api/urls").json()["data"]["urls"]] == [other["_id"]]
    assert api.get("/api/domains").json()["data"]["domains"] == []
    assert api.get(f"/api/domains/{brand.public_id}").status_code == 404
    assert move(api, brand, marketing).status_code == 404
    assert api.post("/api/urls", {"originalUrl": URL, "domainId": str(brand.public_id)}).status_code == 404
    assert there.post("/api/urls", {"originalUrl": URL, "domainId": str(brand.public_id)}).status_code == 201


def test_each_workspace_has_its_own_part_of_the_history(
    api: APIClient,
    there: APIClient,
    alice: NewAccount,
    marketing: Workspace,
    make_link: MakeLink,
    brand: Domain,
) -> None:
    make_link(domainId=str(brand.public_id))
    move(api, brand, marketing)
    stored = Change.objects.filter(action__contains=".moved_").order_by("id")
    assert set(stored.values_list("action", "owner", "actor")) == {
        ("domain.moved_out", alice.user.pk, alice.user.pk),
        ("domain.moved_in", marketing.pk, alice.user.pk),
        ("link.moved_out", alice.user.pk, alice.user.pk),
        ("link.moved_in", marketing.pk, alice.user.pk),
    }
    bodies = [client.get("/api/audit").content.decode() for client in (api, there)]
    assert ["domain.moved_out" in bodies[0], "domain.moved_in" in bodies[1]] == [True, True]
    assert str(marketing.public_id) not in bodies[0]


def test_keys_of_the_domain_end_and_others_stay(
    api: APIClient, alice: NewAccount, marketing: Workspace, brand: Domain
) -> None:
    limited = scoped_key(alice.workspace, alice.user, Scope.URLS_READ, domain_id=brand.pk)
    other = scoped_key(alice.workspace, alice.user, Scope.URLS_READ)
    assert move(api, brand, marketing).status_code == 200
    assert list(ScopedKey.objects.values_list("pk", flat=True)) == [other.key.pk]
    assert key_client(limited.text).get("/api/urls").status_code == 401
    assert Change.objects.filter(owner=alice.user.pk, action="key.deleted").count() == 1


def test_codes_of_deleted_links_are_held_for_the_new_owner(
    api: APIClient, there: APIClient, marketing: Workspace, make_link: MakeLink, brand: Domain
) -> None:
    link = make_link(customCode="spring", domainId=str(brand.public_id))
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert move(api, brand, marketing).status_code == 200
    again = there.post(
        "/api/urls", {"originalUrl": URL, "customCode": "spring", "domainId": str(brand.public_id)}
    )
    assert again.status_code == 201
    # The deleted link comes back where it was deleted, and not on the domain of another workspace.
    assert api.post(f"/api/urls/{link['_id']}/undelete").status_code == 200
    back = whole(api, link)
    assert (back["domainId"], back["customCode"], back["shortCode"]) == ("base", "spring", link["shortCode"])
    assert Code.objects.filter(code="spring").count() == 2


@pytest.mark.parametrize("role", [None, Role.EDITOR, Role.ADMIN])
def test_both_workspaces_require_an_admin(
    role: Role | None,
    api: APIClient,
    alice: NewAccount,
    stranger: NewAccount,
    brand: Domain,
    make_link: MakeLink,
) -> None:
    make_link(domainId=str(brand.public_id))
    foreign = team(stranger, "Foreign")
    change_plan(workspace=foreign, plan=Plan.PRO)
    if role is not None:
        add_member(foreign, alice, role)
    response = move(api, brand, foreign)
    if role is None:
        unknown = api.post(f"/api/domains/{brand.public_id}/move", {"workspaceId": UNKNOWN_ID})
        assert (response.status_code, response.json()) == (404, unknown.json())
    elif role == Role.EDITOR:
        assert (response.status_code, response.json()["data"]) == (403, {"role": "admin"})
    else:
        assert response.status_code == 200
    owner = foreign.pk if role == Role.ADMIN else alice.user.pk
    assert set(Link.objects.values_list("owner", "domain__owner")) == {(owner, owner)}
    # A stranger neither moves it nor learns that it exists.
    mine = key_client_in(stranger.workspace, stranger.api_key)
    if role != Role.ADMIN:
        assert move(mine, brand, foreign).status_code == 404


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_the_target_must_have_place(
    settings: Settings,
    api: APIClient,
    alice: NewAccount,
    marketing: Workspace,
    brand: Domain,
    make_link: MakeLink,
) -> None:
    links = [make_link(domainId=str(brand.public_id)) for _ in range(3)]
    change_plan(workspace=marketing, plan=Plan.FREE)
    assert refusal(move(api, brand, marketing)) == (403, "plan_required")
    change_plan(workspace=marketing, plan=Plan.ENTERPRISE)
    settings.DOMAINS_PER_ACCOUNT = 1
    own = active_domain(marketing, "other.example")
    assert refusal(move(api, brand, marketing)) == (403, "quota_exceeded")
    own.delete()
    settings.LINK_QUOTAS = {"free": 0, "pro": 0, "enterprise": 2}
    assert refusal(move(api, brand, marketing)) == (429, "quota_exceeded")
    settings.LINK_QUOTAS = {"free": 0, "pro": 0, "enterprise": 3}
    claim = Domain.objects.create(owner=marketing, domain=HOST, host=HOST)
    settings.DOMAINS_PER_ACCOUNT = 2
    assert refusal(move(api, brand, marketing)) == (409, "domain_exists")
    claim.delete()
    there = key_client_in(marketing, alice.api_key)
    api.put(f"/api/urls/{links[0]['_id']}", {"externalId": "7"})
    twin = there.post("/api/urls", {"originalUrl": URL, "externalId": "7"}).json()["data"]["url"]["_id"]
    settings.LINK_QUOTAS = {"free": 0, "pro": 0, "enterprise": 4}
    assert refusal(move(api, brand, marketing)) == (409, "external_id_taken")
    assert set(Link.objects.filter(domain=brand).values_list("owner", flat=True)) == {alice.user.pk}
    assert Change.objects.filter(action__contains=".moved_").count() == 0
    there.put(f"/api/urls/{twin}", {"externalId": None})
    assert move(api, brand, marketing).status_code == 200
    assert inconsistencies() == []


def test_the_same_workspace_a_banned_one_and_bad_input_are_refused(
    api: APIClient, alice: NewAccount, marketing: Workspace, brand: Domain
) -> None:
    assert refusal(move(api, brand, alice.workspace)) == (400, "validation_error")
    path = f"/api/domains/{brand.public_id}/move"
    bodies: list[Any] = [{}, {"workspaceId": 5}, {"workspaceId": None}, {"workspaceId": "x" * 10_000}]
    assert [api.post(path, body).status_code for body in bodies] == [400, 400, 400, 404]
    ban_account(owner=alice.workspace)
    assert refusal(move(api, brand, marketing)) == (403, "workspace_banned")
    assert Domain.objects.get().owner_id == alice.user.pk


def test_no_host_keeps_a_stale_answer(api: APIClient, marketing: Workspace, brand: Domain) -> None:
    counter = cache_versions.counter_of_host(HOST)
    before = cache_versions.counters()[counter]
    move(api, brand, marketing)
    assert cache_versions.counters()[counter] != before


def test_the_number_of_statements_does_not_depend_on_the_number_of_links(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink, brand: Domain
) -> None:
    make_link(domainId=str(brand.public_id))
    there = key_client_in(marketing, alice.api_key)
    counts = []
    for client, target in ((api, marketing), (there, alice.workspace)):
        with CaptureQueriesContext(connection) as queries:
            assert move(client, brand, target).status_code == 200
        counts.append(len(queries))
        for _ in range(11):
            key_client_in(target, alice.api_key).post(
                "/api/urls", {"originalUrl": URL, "domainId": str(brand.public_id)}
            )
    assert counts[0] == counts[1]


@pytest.mark.django_db(transaction=True)
def test_links_created_meanwhile_have_the_owner_of_their_domain(
    alice: NewAccount, marketing: Workspace, brand: Domain
) -> None:
    workspaces = (alice.workspace, marketing)

    def wander() -> int:
        for source, target in (workspaces, workspaces[::-1]) * 4:
            move_domain(source=source, domain=brand, target_id=str(target.public_id), actor=alice.user)
        return 0

    def create(owner: Workspace) -> int:
        created = 0
        for _ in range(12):
            try:
                create_link(
                    owner=owner,
                    creator=alice.user,
                    destination=canonical_destination(URL),
                    domain_id=str(brand.public_id),
                )
            except ServiceError:
                continue
            created += 1
        return created

    _, *created = at_once([wander, *(partial(create, owner) for owner in workspaces)])
    brand.refresh_from_db()
    owners = list(Link.objects.values_list("owner", flat=True))
    assert (len(owners), set(owners) - {brand.owner_id}) == (sum(created), set())
    assert inconsistencies() == []


@pytest.mark.django_db(transaction=True)
def test_a_creation_that_waits_for_a_move_is_refused(
    alice: NewAccount, marketing: Workspace, brand: Domain, api: APIClient
) -> None:
    """It has read the domain before the move."""

    def create(path: str, body: dict[str, Any]) -> Any:
        try:
            return api.post(path, body)
        finally:
            connection.close()

    link = {"originalUrl": URL, "domainId": str(brand.public_id)}
    with ThreadPoolExecutor(1) as background:
        for path, body in (("/api/urls", link), ("/api/urls/bulk", {"urls": [link]})):
            with transaction.atomic():
                Domain.objects.select_for_update().get(pk=brand.pk)
                created = background.submit(create, path, body)
                eventually(lambda created=created: is_a_connection_blocked() or created.done())
                Domain.objects.filter(pk=brand.pk).update(owner=marketing)
            response = created.result()
            results = response.json().get("data", {}).get("results") or [response.json()]
            assert (results[0]["success"], results[0]["code"]) == (False, "not_found")
            Domain.objects.filter(pk=brand.pk).update(owner=alice.workspace)
    assert Link.objects.count() == 0
