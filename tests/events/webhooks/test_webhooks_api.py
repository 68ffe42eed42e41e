"""Endpoints through the API: fields, limits, secrets and history. `workspaces/every_role.py` has roles and scopes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Change
from accounts.rights import Role
from accounts.services import NewAccount
from events.models import Listener
from events.webhooks.models import Cursor, Delivery, Webhook
from events.webhooks.services import send_test
from testing.accounts.accounts import account
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.cases import for_each

URL = "https://shop.example.com/hooks?token=t0ken"
BODY = {"name": "Shop", "types": ["link.created", "link.clicked"], "url": URL}


def create(api: APIClient, **fields: Any) -> dict[str, Any]:
    response = api.post("/api/webhooks", BODY | fields)
    assert response.status_code == 201, response.json()
    return response.json()["data"]


def listened_types(owner: NewAccount) -> list[str]:
    row = Listener.objects.filter(workspace=owner.workspace).first()
    return [] if row is None else row.webhook_types


def test_a_webhook_is_created_read_changed_and_deleted(api: APIClient, alice: NewAccount) -> None:
    made = create(api, filters={"tags": ["Spring"]})
    webhook, secret = made["webhook"], made["secret"]
    assert secret.startswith("whsec_")
    assert webhook | {"_id": "", "createdAt": "", "updatedAt": ""} == {
        "_id": "",
        "name": "Shop",
        "format": "standard",
        "url": URL,
        "host": "shop.example.com",
        "memberIds": [],
        "types": ["link.created", "link.clicked"],
        "filters": {"tags": ["Spring"], "urlIds": [], "domainIds": []},
        "isEnabled": True,
        "disabledReason": None,
        "disabledAt": None,
        "failingSince": None,
        "formerSecretUntil": None,
        "createdAt": "",
        "updatedAt": "",
    }
    path = f"/api/webhooks/{webhook['_id']}"
    assert api.get(path).json()["data"] == {"webhook": webhook}
    assert api.get("/api/webhooks").json()["data"] == {"webhooks": [webhook]}
    assert listened_types(alice) == ["link.clicked", "link.created"]
    # A client may send back the whole object.
    changed = api.patch(path, webhook | {"name": "Store", "types": ["link.updated"], "filters": {}})
    assert changed.status_code == 200
    changed = changed.json()["data"]["webhook"]
    assert changed["updatedAt"] > webhook["updatedAt"]
    assert changed | {"updatedAt": ""} == webhook | {
        "name": "Store",
        "types": ["link.updated"],
        "filters": {"tags": [], "urlIds": [], "domainIds": []},
        "updatedAt": "",
    }
    assert listened_types(alice) == ["link.updated"]
    assert list(Cursor.objects.values_list("kind", flat=True)) == ["changes"]
    disabled = api.patch(path, {"isEnabled": False}).json()["data"]["webhook"]
    assert (disabled["isEnabled"], disabled["disabledReason"]) == (False, "manual")
    assert (listened_types(alice), Cursor.objects.count()) == ([], 0)
    for call in ("test", "replay"):
        refused = api.post(f"{path}/{call}", {"from": "2026-01-01"} if call == "replay" else {})
        assert (refused.status_code, refused.json()["code"]) == (409, "webhook_disabled")
    assert api.patch(path, {"isEnabled": True}).json()["data"]["webhook"]["disabledReason"] is None
    assert listened_types(alice) == ["link.updated"]
    assert api.delete(path).status_code == 200
    assert api.get(path).status_code == 404
    assert listened_types(alice) == []


def test_types_of_all_webhooks_are_listened_to(api: APIClient, alice: NewAccount) -> None:
    create(api)
    create(api, types=["link.created", "key.created"])
    assert listened_types(alice) == ["key.created", "link.clicked", "link.created"]
    Webhook.objects.first().delete()
    assert listened_types(alice) == ["key.created", "link.created"]


@for_each(
    ("fields", "field", "code"),
    [
        ({"name": " "}, "name", "blank"),
        ({"name": "x" * 101}, "name", "max_length"),
        ({"types": []}, "types", "min_length"),
        ({"types": ["link.seen"]}, "types.0", "invalid_choice"),
        ({"types": "link.created"}, "types", "not_a_list"),
        ({"format": "xml"}, "format", "invalid_choice"),
        ({"url": None}, "url", "missing"),
        ({"url": "http://shop.example.com/"}, "url", "not_https"),
        ({"url": "ftp://shop.example.com/"}, "url", "unsupported_scheme"),
        ({"url": "https://ada@shop.example.com/"}, "url", "userinfo"),
        ({"memberIds": ["01890000-0000-7000-8000-000000000000"]}, "memberIds", "no_mail"),
        ({"format": "mail", "memberIds": []}, "url", "mail"),
        ({"format": "mail", "url": None}, "memberIds", "missing"),
        (
            {"format": "mail", "url": None, "memberIds": ["01890000-0000-7000-8000-000000000000"]},
            "memberIds",
            "not_a_member",
        ),
        ({"filters": {"urlIds": ["x"]}}, "filters.urlIds.0", "id"),
        ({"filters": {"domainIds": ["x"]}}, "filters.domainIds.0", "id"),
        ({"filters": {"tags": ["x"] * 101}}, "filters.tags", "max_length"),
        ({"isEnabled": 1}, "isEnabled", "invalid"),
    ],
)
def test_invalid_fields_are_refused(
    fields: dict[str, Any], field: str, code: str, api: APIClient, settings: Settings
) -> None:
    settings.SENDS_MAIL, settings.OUTBOUND_PLAIN_HTTP = True, False
    response = api.post("/api/webhooks", BODY | fields)
    assert response.status_code == 400, response.json()
    [error] = response.json()["errors"]
    assert (error["field"], error["code"]) == (field, code)
    assert not Webhook.objects.exists()


def test_a_workspace_has_a_limited_number_of_webhooks(api: APIClient, settings: Settings) -> None:
    settings.WEBHOOKS_PER_WORKSPACE = 1
    create(api)
    response = api.post("/api/webhooks", BODY)
    assert (response.status_code, response.json()["code"]) == (403, "quota_exceeded")


def test_addresses_of_chats_are_never_shown(api: APIClient) -> None:
    secret = "https://hooks.slack.com/services/T000/B000/SECRET"
    made = create(api, format="slack", url=secret)
    assert (made["secret"], made["webhook"]["url"], made["webhook"]["host"]) == (
        None,
        None,
        "hooks.slack.com",
    )
    path = f"/api/webhooks/{made['webhook']['_id']}"
    changed = api.patch(path, {"url": secret.replace("SECRET", "OTHER")})
    assert changed.json()["data"]["webhook"]["url"] is None
    assert "SECRET" not in api.get("/api/audit").content.decode()
    refused = api.post(f"{path}/rotate-secret", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_signed")


def test_secrets_are_sealed_and_bound_to_their_webhook(api: APIClient, settings: Settings) -> None:
    first, second = create(api), create(api)
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(w::text, '') FROM events_webhook w")
        [[stored]] = cursor.fetchall()
    for text in (URL, first["secret"].removeprefix("whsec_")):
        assert text not in stored
        assert text.encode().hex() not in stored
    # An installation may change its secret.
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    path = f"/api/webhooks/{first['webhook']['_id']}"
    assert api.get(path).json()["data"]["webhook"]["url"] == URL
    other = Webhook.objects.get(public_id=second["webhook"]["_id"])
    Webhook.objects.filter(public_id=first["webhook"]["_id"]).update(sealed_url=other.sealed_url)
    assert api.get(path).json()["data"]["webhook"]["url"] is None


def test_the_history_has_changes_of_webhooks_without_secrets(api: APIClient) -> None:
    path = f"/api/webhooks/{create(api)['webhook']['_id']}"
    api.patch(path, {"name": "Store", "url": "https://store.example.com/"})
    api.post(f"{path}/rotate-secret", {})
    Webhook.objects.update(seconds=1.0)
    api.delete(path)
    changes = api.get("/api/audit", {"object": path.rsplit("/", maxsplit=1)[-1]}).json()["data"]["changes"]
    assert [change["action"] for change in changes] == [
        *("webhook.deleted", "webhook.secret_rotated", "webhook.updated", "webhook.created")
    ]
    assert changes[2]["after"] == {"name": "Store", "host": "store.example.com", "url": "set"}
    assert changes[2]["before"] == {"name": "Shop", "host": "shop.example.com", "url": "set"}
    assert "t0ken" not in str(changes)


def test_a_stranger_finds_nothing(api: APIClient, strange_api: APIClient, alice: NewAccount) -> None:
    webhook = create(api)["webhook"]["_id"]
    delivery = api.post(f"/api/webhooks/{webhook}/test", {}).json()["data"]["delivery"]["_id"]
    own = create(strange_api)["webhook"]["_id"]
    assert strange_api.get("/api/webhooks").json()["data"]["webhooks"][0]["_id"] == own
    for method, path, body in (
        ("get", f"{webhook}", None),
        ("patch", f"{webhook}", {"name": "Mine"}),
        ("delete", f"{webhook}", {}),
        ("get", f"{webhook}/deliveries", None),
        ("post", f"{webhook}/test", {}),
        ("post", f"{webhook}/rotate-secret", {}),
        ("post", f"{webhook}/replay", {"from": "2026-01-01"}),
        ("post", f"{webhook}/deliveries/{delivery}/resend", {}),
        # Of another endpoint.
        ("post", f"{own}/deliveries/{delivery}/resend", {}),
    ):
        response = getattr(strange_api, method)(f"/api/webhooks/{path}", body)
        assert (path, response.status_code) == (path, 404)
    foreign = strange_api.get(f"/api/webhooks/{own}/deliveries", {"cursor": delivery})
    assert (foreign.status_code, foreign.json()["errors"][0]["code"]) == (400, "invalid")
    assert api.get(f"/api/webhooks/{webhook}").json()["data"]["webhook"]["name"] == "Shop"


def test_mails_go_to_members_only(
    api: APIClient, alice: NewAccount, stranger: NewAccount, settings: Settings
) -> None:
    mail = {"name": "Me", "types": ["link.expired"], "format": "mail"}
    refused = api.post("/api/webhooks", mail | {"memberIds": [str(alice.user.public_id)]})
    assert (refused.status_code, refused.json()["code"]) == (409, "no_mail")
    settings.SENDS_MAIL = True
    refused = api.post("/api/webhooks", mail | {"memberIds": [str(stranger.user.public_id)]})
    assert refused.json()["errors"][0]["code"] == "not_a_member"
    made = api.post("/api/webhooks", mail | {"memberIds": [str(alice.user.public_id)]}).json()["data"]
    assert (made["secret"], made["webhook"]["host"]) == (None, None)
    path = f"/api/webhooks/{made['webhook']['_id']}"
    refused = api.patch(path, {"memberIds": [str(stranger.user.public_id)]})
    assert refused.json()["errors"][0]["code"] == "not_a_member"
    refused = api.patch(path, {"url": URL})
    assert refused.json()["errors"][0]["code"] == "mail"


@pytest.mark.parametrize("number", [2, 8])
def test_lists_take_the_same_queries_however_long_they_are(
    api: APIClient, alice: NewAccount, number: int
) -> None:
    [webhook, *_] = [create(api)["webhook"]["_id"] for _ in range(number)]
    for _ in range(number):
        send_test(owner=alice.workspace, public_id=webhook)
    with CaptureQueriesContext(connection) as queries:
        assert len(api.get("/api/webhooks").json()["data"]["webhooks"]) == number
    assert len(queries) == 2
    with CaptureQueriesContext(connection) as queries:
        assert len(api.get(f"/api/webhooks/{webhook}/deliveries").json()["data"]["deliveries"]) == number
    assert len(queries) == 3


def test_deliveries_have_pages(api: APIClient, alice: NewAccount) -> None:
    webhook = create(api)["webhook"]["_id"]
    sent = [
        str(send_test(owner=alice.workspace, public_id=webhook, of_type=of_type).public_id)
        for of_type in ("link.created", "link.clicked", "link.created")
    ]
    path, read = f"/api/webhooks/{webhook}/deliveries", []
    cursor: dict[str, str] = {}
    while True:
        data = api.get(path, {"limit": 2, **cursor}).json()["data"]
        read += [shown["_id"] for shown in data["deliveries"]]
        if data["pagination"]["nextCursor"] is None:
            break
        cursor = {"cursor": data["pagination"]["nextCursor"]}
    assert read == sent[::-1]
    for query, expected in (
        ({"type": "link.clicked"}, [sent[1]]),
        ({"status": "pending"}, sent[::-1]),
        ({"status": "failed"}, []),
    ):
        found = api.get(path, query).json()["data"]["deliveries"]
        assert [shown["_id"] for shown in found] == expected
    refused = api.get(path, {"status": "lost"})
    assert refused.json()["errors"][0]["code"] == "invalid_choice"


def test_a_replay_needs_a_time_in_the_past_and_runs_alone(api: APIClient) -> None:
    path = f"/api/webhooks/{create(api)['webhook']['_id']}/replay"
    for body in ({"from": "2999-01-01"}, {"from": "2026-01-02", "to": "2026-01-01"}):
        response = api.post(path, body)
        assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "order")
    assert api.post(path, {"from": "2026-01-01", "types": ["link.created"]}).status_code == 200
    response = api.post(path, {"from": "2026-01-01"})
    assert (response.status_code, response.json()["code"]) == (409, "replay_running")


@pytest.mark.django_db(transaction=True)
def test_a_workspace_is_deleted_with_its_webhooks(alice: NewAccount) -> None:
    workspace = team(alice)
    add_member(workspace, account("member@example.com"), Role.ADMIN)
    client = key_client_in(workspace, alice.api_key)
    webhook = create(client)["webhook"]["_id"]
    client.post(f"/api/webhooks/{webhook}/test", {})
    assert client.delete(f"/api/workspaces/{workspace.public_id}").status_code == 200
    counts = [model.objects.count() for model in (Webhook, Cursor, Delivery, Listener)]
    assert counts == [0, 0, 0, 0]
    assert not Change.objects.filter(owner_id=workspace.pk).exists()
