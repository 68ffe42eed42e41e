"""The bytes that a workspace stores: exact, told, and bounded by the plan."""

from __future__ import annotations

import base64
from functools import partial
from io import BytesIO
from typing import Any

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, connection
from django.db.models import CharField, JSONField, TextField
from PIL import Image
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts import caps
from accounts.caps import stored_bytes, write_storage_limits
from accounts.models import Workspace
from accounts.rights import Plan
from accounts.services import NewAccount
from accounts.workspaces.services import change_plan
from links.models import Link
from links.storage.deletion import purge_deleted_links
from testing.accounts.accounts import account, key_client
from testing.accounts.workspaces import key_client_in, team, token_client_in
from testing.threads import at_once

URL = "https://example.com/page"
# The size of a link without further texts: twice its URL, which is stored as entered and in canonical form, the empty
# arrays and objects, and 500 bytes.
PLAIN = 500 + 2 * len(URL) + len("{}" * 3 + "{}" + "[][]")


def recount(owner: Workspace) -> int:
    """The sum over the rows of links and QR codes."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT (
                SELECT coalesce(sum(links_size(
                    original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                    not_started_url, expired_url, password, utm, rules, split, preview
                )), 0) FROM (
                    SELECT l FROM links_link l WHERE owner_id = %(owner)s
                    UNION ALL SELECT jsonb_populate_record(NULL::links_link, d.link)
                    FROM links_deletedlink d WHERE owner_id = %(owner)s
                ) rows, LATERAL (SELECT (rows.l).*) link
            ) + (
                SELECT coalesce(sum(300 + octet_length((c).content) + coalesce(octet_length((c).logo), 0)), 0) FROM (
                    SELECT q AS c FROM qrcodes_qrcode q
                    UNION ALL SELECT jsonb_populate_record(NULL::qrcodes_qrcode, d.code) FROM qrcodes_deletedqrcode d
                ) rows WHERE (c).owner_id = %(owner)s
            )
            """,
            {"owner": owner.pk},
        )
        [(counted,)] = cursor.fetchall()
    return int(counted)


def check(*owners: Workspace) -> list[int]:
    stored = [stored_bytes(owner) for owner in owners]
    assert stored == [recount(owner) for owner in owners]
    return stored


def create(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.post("/api/urls", {"originalUrl": URL, **fields})
    assert response.status_code == 201, response.json()
    created: dict[str, Any] = response.json()["data"]["url"]
    return created


def logo() -> str:
    buffer = BytesIO()
    Image.new("RGB", (40, 40), "red").save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


ROUTED = {
    "rules": [
        {"name": "r", "url": "https://example.com/de", "conditions": [{"type": "language", "values": ["de"]}]}
    ],
    "split": [{"url": "https://example.com/a", "weight": 1}, {"url": "https://example.com/b", "weight": 2}],
    "tags": ["One", "two"],
    "title": "Grüße",
    "utm": {"source": "mail"},
}


def test_the_stored_bytes_follow_every_change(alice: NewAccount, api: APIClient) -> None:
    owner = alice.workspace
    assert check(owner) == [0]
    link = create(api)
    assert check(owner) == [PLAIN]
    path = f"/api/urls/{link['_id']}"
    assert api.put(path, {"title": "Grüße"}).status_code == 200
    assert check(owner) == [PLAIN + 7]
    assert api.put(path, {"title": "x", "isActive": False}).status_code == 200
    assert check(owner) == [PLAIN + 1]
    assert api.put(path, ROUTED).status_code == 200
    assert check(owner)[0] > PLAIN + 300
    assert api.put(path, {"rules": [], "split": [], "tags": [], "title": None, "utm": {}}).status_code == 200
    assert check(owner) == [PLAIN]

    many = api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, **ROUTED}] * 30}).json()["data"]
    ids = [result["url"]["_id"] for result in many["results"]]
    before = check(owner)[0]
    assert (
        api.post("/api/urls/bulk-update", {"ids": ids, "data": {"description": "d" * 100}}).status_code == 200
    )
    assert check(owner) == [before + 3_000]
    imported = api.post(
        "/api/urls/import", {"content": f"originalUrl,title\n{URL},imported\n", "dryRun": False}
    )
    assert imported.status_code == 200, imported.json()
    assert check(owner)[0] > before + 3_000 + PLAIN

    plain = api.post("/api/qr-codes", {"urlId": link["_id"]})
    assert plain.status_code == 201
    with_code = check(owner)[0]
    drawn = api.post("/api/qr-codes", {"urlId": link["_id"], "logo": logo(), "size": 600})
    assert drawn.status_code == 201, drawn.json()
    assert check(owner)[0] > with_code + 300
    assert api.delete(f"/api/qr-codes/{drawn.json()['data']['qrCode']['_id']}").status_code == 200
    assert check(owner) == [with_code]


def test_every_text_of_a_link_counts(db: None) -> None:
    """Codes and the words of an enumeration are in the fixed part."""
    fixed = {
        "short_code",
        "custom_code",
        "referrer_policy",
        *("allowed_countries", "blocked_countries", "allowed_devices"),
    }
    texts = {
        field.column
        for field in Link._meta.concrete_fields
        if isinstance(field, CharField | TextField | ArrayField | JSONField)
    }
    with connection.cursor() as cursor:
        cursor.execute("SELECT proargnames FROM pg_proc WHERE proname = 'links_size'")
        [(counted,)] = cursor.fetchall()
    assert set(counted) == texts - fixed


def test_a_deleted_link_counts_until_it_can_no_longer_be_brought_back(
    alice: NewAccount, api: APIClient
) -> None:
    owner, link = alice.workspace, create(api, **ROUTED)
    other = create(api)
    for identifier in (link["_id"], other["_id"]):
        assert (
            api.post("/api/qr-codes", {"urlId": identifier, "logo": logo(), "size": 600}).status_code == 201
        )
    stored = check(owner)
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert check(owner) == stored
    assert api.post(f"/api/urls/{link['_id']}/undelete").status_code == 200
    assert check(owner) == stored
    ids = [link["_id"], other["_id"]]
    assert api.post("/api/urls/bulk-delete", {"ids": ids}).status_code == 200
    assert check(owner) == stored
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_deletedlink SET deleted_at = deleted_at - interval '8 days'")
    assert purge_deleted_links() == 2
    assert check(owner) == [0]


def test_a_move_takes_the_bytes_along(alice: NewAccount, api: APIClient, stranger: NewAccount) -> None:
    target, link = team(alice), create(api, **ROUTED)
    assert api.post("/api/qr-codes", {"urlId": link["_id"], "logo": logo(), "size": 600}).status_code == 201
    [stored, _] = check(alice.workspace, target)
    body = {"ids": [link["_id"]], "workspaceId": str(target.public_id)}
    assert api.post("/api/urls/move", body).json()["data"]["succeeded"] == 1
    assert check(alice.workspace, target, stranger.workspace) == [0, stored, 0]


def test_the_bytes_of_a_deleted_account_are_gone(
    alice: NewAccount, api: APIClient, stranger: NewAccount
) -> None:
    create(key_client(stranger.api_key))
    link = create(api, **ROUTED)
    assert api.post("/api/qr-codes", {"urlId": link["_id"]}).status_code == 201
    assert api.delete(f"/api/urls/{create(api)['_id']}").status_code == 200
    alice.user.delete()
    assert check(stranger.workspace) == [PLAIN]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM links_ownertotals WHERE owner_id = %s", [alice.user.pk])
        assert cursor.fetchone() == (0,)


def test_members_read_how_much_their_workspace_stores(
    settings: Settings, alice: NewAccount, bearer: APIClient, strange_api: APIClient
) -> None:
    settings.STORAGE_LIMITS = {"free": 1, "pro": 7, "enterprise": 0}
    workspace = team(alice)
    create(key_client_in(workspace, alice.api_key))
    path = f"/api/workspaces/{workspace.public_id}"
    read = bearer.get(path).json()["data"]["workspace"]
    assert (read["storedBytes"], read["limits"]["storedBytes"]) == (PLAIN, 7_000_000)
    assert strange_api.get(path).status_code == 404
    # The object can be sent back.
    assert bearer.patch(path, read).status_code == 200
    settings.STORAGE_LIMITS = {"free": 1, "pro": 0, "enterprise": 0}
    assert bearer.get(path).json()["data"]["workspace"]["limits"]["storedBytes"] is None


@pytest.fixture
def limit_links(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Any:
    """Limits the free plan to the bytes of some plain links."""
    monkeypatch.setattr(caps, "MEGABYTE", 1)

    def set_limit(links: int) -> None:
        settings.STORAGE_LIMITS = {"free": links * PLAIN, "pro": 0, "enterprise": 0}
        write_storage_limits()

    return set_limit


@pytest.fixture
def owner(db: None) -> NewAccount:
    return account("free@example.com", plan=Plan.FREE)


def refused(response: Any) -> bool:
    if response.status_code != 403:
        return False
    assert response.json()["code"] == "quota_exceeded", response.json()
    assert "stored data" in response.json()["message"]
    return True


@pytest.mark.django_db(transaction=True)
def test_nothing_more_is_stored_at_the_limit(
    limit_links: Any, owner: NewAccount, stranger: NewAccount, api: APIClient
) -> None:
    client = key_client(owner.api_key)
    limit_links(3)
    links = [create(client) for _ in range(3)]
    path = f"/api/urls/{links[0]['_id']}"
    assert refused(client.post("/api/urls", {"originalUrl": URL}))
    assert refused(client.post("/api/urls", {"originalUrl": URL}, headers={"idempotency-key": "k"}))
    assert refused(client.post("/api/urls", {"originalUrl": URL, "customCode": "chosen", **ROUTED}))
    assert refused(client.post("/api/urls/bulk", {"urls": [{"originalUrl": URL}] * 2}))
    assert refused(client.post("/api/urls/import", {"content": f"originalUrl\n{URL}\n", "dryRun": False}))
    assert refused(client.put(path, {"title": "longer"}))
    assert refused(client.put(path, ROUTED))
    ids = [link["_id"] for link in links]
    assert refused(client.post("/api/urls/bulk-update", {"ids": ids, "data": {"title": "longer"}}))
    assert refused(client.post("/api/qr-codes", {"urlId": links[0]["_id"]}))
    assert check(owner.workspace) == [3 * PLAIN]
    assert Link.objects.filter(owner=owner.workspace).count() == 3

    # Whatever stores no more is possible, and a deleted link can be brought back.
    assert client.put(path, {"isActive": False, "customCode": "renamed"}).status_code == 200
    assert client.delete(path).status_code == 200
    assert refused(client.post("/api/urls", {"originalUrl": URL}))
    assert client.post(f"{path}/undelete").status_code == 200
    assert client.delete(path).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_deletedlink SET deleted_at = deleted_at - interval '8 days'")
    purge_deleted_links()
    create(client)
    # Neither a stranger nor a paid plan is affected.
    create(key_client(account("other@example.com", plan=Plan.FREE).api_key))
    create(api, **ROUTED)


@pytest.mark.django_db(transaction=True)
def test_the_workspaces_of_a_free_account_share_the_limit(limit_links: Any, owner: NewAccount) -> None:
    limit_links(3)
    first, second = team(owner), team(owner)
    clients = [key_client(owner.api_key), *(key_client_in(own, owner.api_key) for own in (first, second))]
    for client in clients:
        create(client)
    for client in clients:
        assert refused(client.post("/api/urls", {"originalUrl": URL}))
    body = {"ids": [clients[1].get("/api/urls").json()["data"]["urls"][0]["_id"]]}
    moved = clients[1].post("/api/urls/move", {**body, "workspaceId": str(second.public_id)})
    assert moved.json()["data"]["succeeded"] == 1
    change_plan(workspace=second, plan=Plan.PRO)
    create(clients[2])
    create(clients[0])
    assert refused(token_client_in(first, owner.user).post("/api/urls", {"originalUrl": URL, **ROUTED}))


@pytest.mark.django_db(transaction=True)
def test_a_move_cannot_exceed_the_limit_of_its_target(
    limit_links: Any, owner: NewAccount, alice: NewAccount
) -> None:
    source = team(alice)
    client = key_client_in(source, alice.api_key)
    ids = [create(client)["_id"] for _ in range(3)]
    limit_links(2)
    target = team(alice)
    change_plan(workspace=target, plan=Plan.FREE)
    body = {"ids": ids, "workspaceId": str(target.public_id)}
    assert refused(client.post("/api/urls/move", body))
    assert check(source, target) == [3 * PLAIN, 0]
    assert client.post("/api/urls/move", {**body, "ids": ids[:2]}).json()["data"]["succeeded"] == 2


@pytest.mark.django_db(transaction=True)
def test_parallel_calls_do_not_exceed_the_limit_together(limit_links: Any) -> None:
    owner = account("free@example.com", plan=Plan.FREE)
    workspaces = [owner.workspace, team(owner), team(owner)]
    clients = [key_client_in(workspace, owner.api_key) for workspace in workspaces]
    link = create(clients[0])["_id"]
    limit_links(10)

    def single(client: APIClient) -> int:
        return client.post("/api/urls", {"originalUrl": URL}).status_code

    def bulk(client: APIClient) -> int:
        return client.post("/api/urls/bulk", {"urls": [{"originalUrl": URL}] * 3}).status_code

    def qr_code(client: APIClient, size: int) -> int:
        return client.post("/api/qr-codes", {"urlId": link, "size": size}).status_code

    statuses = at_once([
        *(partial(single, client) for client in clients * 5),
        partial(bulk, clients[0]),
        *(partial(qr_code, clients[0], size) for size in range(300, 304)),
    ])  # fmt: skip
    assert set(statuses) <= {201, 200, 403}
    assert sum(check(*workspaces)) <= 10 * PLAIN
    while single(clients[0]) == 201:
        pass
    assert 9 * PLAIN < sum(check(*workspaces)) <= 10 * PLAIN


@pytest.mark.django_db(transaction=True)
def test_other_programs_are_bounded_too(limit_links: Any, owner: NewAccount) -> None:
    limit_links(1)
    create(key_client(owner.api_key))
    with pytest.raises(IntegrityError, match="limit of stored bytes"):
        Link.objects.update(title="longer")
