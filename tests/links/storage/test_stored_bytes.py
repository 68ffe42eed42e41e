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

from accounts.caps import MEGABYTE, stored_bytes, write_storage_limits
from accounts.models import StorageLimit, Workspace
from accounts.rights import Plan
from accounts.services import NewAccount
from accounts.workspaces import change_plan
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
    """The sum over the rows of links, QR codes and saved designs."""
    with connection.cursor() as cursor:
        # The parameters have the names of the columns.
        cursor.execute("SELECT proargnames FROM pg_proc WHERE proname = 'links_size'")
        [(columns,)] = cursor.fetchall()
        cursor.execute(
            f"""
            SELECT (
                SELECT coalesce(sum(links_size({", ".join(columns)})), 0) FROM (
                    SELECT l FROM links_link l WHERE owner_id = %(owner)s
                    UNION ALL SELECT jsonb_populate_record(NULL::links_link, d.link)
                    FROM links_deletedlink d WHERE owner_id = %(owner)s
                ) rows, LATERAL (SELECT (rows.l).*) link
            ) + (
                SELECT coalesce(sum(300 + octet_length((c).content) + coalesce(octet_length((c).logo), 0)), 0) FROM (
                    SELECT q AS c FROM qrcodes_qrcode q
                    UNION ALL SELECT jsonb_populate_record(NULL::qrcodes_qrcode, d.code) FROM qrcodes_deletedqrcode d
                ) rows WHERE (c).owner_id = %(owner)s
            ) + (
                SELECT coalesce(sum(300 + octet_length(name) + coalesce(octet_length(logo), 0)), 0)
                FROM qrcodes_saveddesign WHERE owner_id = %(owner)s
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


def logo(pixels: int = 0) -> str:
    """``pixels`` is the side of a square of noise, which takes 3 bytes for each pixel."""
    buffer = BytesIO()
    image = (
        Image.effect_noise((pixels, pixels), 99).convert("RGB")
        if pixels
        else Image.new("RGB", (40, 40), "red")
    )
    image.save(buffer, "PNG")
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
        *("referrer_policy", "health_check"),
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


LIMIT = 1_000_000
# Each of the 8 rows of a workspace's totals grows by 8 KiB at most before its limit is checked.
MARGIN = 8 * 8192
LONG_URL = "https://example.com/" + "a" * 1_900
# More than what a row of the totals can grow by without a check.
LARGE: dict[str, Any] = {"split": [{"url": f"{LONG_URL}{number}", "weight": 1} for number in range(3)]}
ROWS = "originalUrl\n" + f"{LONG_URL}\n" * 40


@pytest.fixture
def owner(settings: Settings, db: None) -> NewAccount:
    settings.STORAGE_LIMITS = {"free": LIMIT / MEGABYTE, "pro": 0, "enterprise": 0}
    write_storage_limits()
    return account("free@example.com", plan=Plan.FREE)


def is_refused(response: Any) -> bool:
    if response.status_code != 403:
        return False
    assert response.json()["code"] == "quota_exceeded", response.json()
    assert "stored data" in response.json()["message"]
    return True


def fill(client: APIClient) -> None:
    """Create links until the limit refuses even a single one."""
    large = {"originalUrl": URL, **LARGE}
    for path, body in (("/api/urls/bulk", {"urls": [large] * 10}), ("/api/urls", large)):
        statuses = [200 if path == "/api/urls/bulk" else 201]
        while statuses[-1] in (200, 201):
            response = client.post(path, body)
            assert response.json()["data"].get("failed", 0) == 0 if response.status_code == 200 else True
            statuses.append(response.status_code)
        assert statuses[-1] == 403


@pytest.mark.django_db(transaction=True)
def test_nothing_more_is_stored_at_the_limit(owner: NewAccount, api: APIClient) -> None:
    client = key_client(owner.api_key)
    links = [create(client) for _ in range(3)]
    fill(client)
    path = f"/api/urls/{links[0]['_id']}"
    [stored] = check(owner.workspace)
    assert LIMIT - 20_000 < stored <= LIMIT + MARGIN
    large = {"originalUrl": URL, **LARGE}
    assert is_refused(client.post("/api/urls", large))
    assert is_refused(client.post("/api/urls", large, headers={"idempotency-key": "k"}))
    assert is_refused(client.post("/api/urls", {"customCode": "chosen", **large}))
    assert is_refused(client.post("/api/urls/bulk", {"urls": [large] * 2}))
    assert is_refused(client.post("/api/urls/import", {"content": ROWS, "dryRun": False}))
    assert is_refused(client.put(path, LARGE))
    ids = [link["_id"] for link in links]
    assert is_refused(client.post("/api/urls/bulk-update", {"ids": ids, "data": LARGE}))
    assert is_refused(
        client.post("/api/qr-codes", {"urlId": links[0]["_id"], "logo": logo(100), "size": 600})
    )
    assert check(owner.workspace) == [stored]

    # Whatever stores no more is possible, and a deleted link can be brought back.
    assert client.put(path, {"isActive": False, "customCode": "renamed"}).status_code == 200
    [large_link, *_] = client.get("/api/urls", {"limit": 1}).json()["data"]["urls"]
    path = f"/api/urls/{large_link['_id']}"
    assert client.delete(path).status_code == 200
    assert is_refused(client.post("/api/urls", large))
    assert client.post(f"{path}/undelete").status_code == 200
    assert check(owner.workspace) == [stored]
    assert client.delete(path).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_deletedlink SET deleted_at = deleted_at - interval '8 days'")
    purge_deleted_links()
    create(client)
    # Neither a stranger nor a paid plan is affected.
    create(key_client(account("other@example.com", plan=Plan.FREE).api_key), **LARGE)
    create(api, **LARGE)


@pytest.mark.django_db(transaction=True)
def test_a_link_with_qr_codes_can_be_deleted_and_undeleted_beyond_the_limit(owner: NewAccount) -> None:
    client = key_client(owner.api_key)
    link = create(client, **LARGE)
    drawn = client.post("/api/qr-codes", {"urlId": link["_id"], "logo": logo(100), "size": 600})
    assert drawn.status_code == 201
    stored = check(owner.workspace)
    StorageLimit.objects.update(bytes=1)
    path = f"/api/urls/{link['_id']}"
    assert client.delete(path).status_code == 200
    assert check(owner.workspace) == stored
    assert client.post(f"{path}/undelete").status_code == 200
    assert check(owner.workspace) == stored
    assert is_refused(client.post("/api/urls", {"originalUrl": URL, **LARGE}))
    assert client.delete(path).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_deletedlink SET deleted_at = deleted_at - interval '8 days'")
    assert purge_deleted_links() == 1
    assert check(owner.workspace) == [0]


@pytest.mark.django_db(transaction=True)
def test_the_workspaces_of_a_free_account_share_the_limit(owner: NewAccount) -> None:
    first, second = team(owner), team(owner)
    clients = [key_client(owner.api_key), *(key_client_in(own, owner.api_key) for own in (first, second))]
    create(clients[1])
    fill(clients[0])
    for client in clients:
        assert is_refused(client.post("/api/urls", {"originalUrl": URL, **LARGE}))
    assert sum(check(owner.workspace, first, second)) <= LIMIT + MARGIN
    change_plan(workspace=second, plan=Plan.PRO)
    create(clients[2], **LARGE)
    assert is_refused(token_client_in(first, owner.user).post("/api/urls", {"originalUrl": URL, **LARGE}))


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_move_cannot_exceed_the_limit_of_its_target(owner: NewAccount, alice: NewAccount) -> None:
    source, target = team(alice), team(alice)
    client = key_client_in(source, alice.api_key)
    ids = [create(client, **LARGE)["_id"] for _ in range(100)]
    [stored, _] = check(source, target)
    assert stored > LIMIT
    change_plan(workspace=target, plan=Plan.FREE)
    body = {"ids": ids, "workspaceId": str(target.public_id)}
    assert is_refused(client.post("/api/urls/move", body))
    assert check(source, target) == [stored, 0]
    moved = client.post("/api/urls/move", {**body, "ids": ids[:50]})
    assert moved.json()["data"]["succeeded"] == 50
    assert check(source, target) == [stored / 2, stored / 2]


@pytest.mark.django_db(transaction=True)
def test_parallel_calls_exceed_the_limit_by_what_they_write_at_most(owner: NewAccount) -> None:
    workspaces = [owner.workspace, team(owner), team(owner)]
    clients = [key_client_in(workspace, owner.api_key) for workspace in workspaces]
    large = {"originalUrl": URL, **LARGE}

    def single(client: APIClient) -> int:
        return client.post("/api/urls", large).status_code

    def bulk(client: APIClient) -> int:
        return client.post("/api/urls/bulk", {"urls": [large] * 10}).status_code

    assert {bulk(clients[0]) for _ in range(10)} == {200, 403}
    statuses = at_once([*(partial(single, client) for client in clients * 5), partial(bulk, clients[1])])
    assert set(statuses) <= {201, 200, 403}
    assert sum(check(*workspaces)) <= LIMIT + 3 * MARGIN + 25 * 11_000
    assert [single(client) for client in clients] == [403, 403, 403]


@pytest.mark.django_db(transaction=True)
def test_other_programs_are_bounded_too(owner: NewAccount) -> None:
    client = key_client(owner.api_key)
    fill(client)
    with pytest.raises(IntegrityError, match="limit of stored bytes"):
        Link.objects.update(expired_url=LONG_URL)
