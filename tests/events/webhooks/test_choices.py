"""Which events an endpoint gets: filters, replays and repetitions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from events.retention import delete_old_events
from events.webhooks.fan_out import FanOut
from events.webhooks.models import Cursor, Delivery
from links.models import Link
from testing.events.receivers import deliver, endpoint, happen, pass_time, received, receiver
from testing.events.stored import listen
from testing.outbound.servers import answering

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., dict[str, Any]]


def test_filters_choose_links_tags_and_domains(api: APIClient, alice: NewAccount, make_link: Make) -> None:
    own = Domain.objects.create(
        owner=alice.workspace, domain="go.example", host="go.example", status="active"
    )
    tagged = make_link(tags=["Spring ", "x"])
    branded = make_link(domainId=str(own.public_id))
    plain = make_link()
    numbers = dict(Link.objects.values_list("public_id", "pk"))
    names = {
        number: name
        for name, link in {"tagged": tagged, "branded": branded, "plain": plain}.items()
        for public_id, number in numbers.items()
        if str(public_id) == link["_id"]
    }
    with receiver() as server:
        for name, filters in {
            "all": {},
            "spring": {"tags": ["SPRING"]},
            "one": {"urlIds": [plain["_id"]]},
            "domain": {"domainIds": [str(own.public_id)]},
            "base": {"domainIds": ["base"]},
            "none": {"tags": ["spring"], "domainIds": [str(own.public_id)]},
        }.items():
            path = f"http://127.0.0.1:{server.port}/{name}"
            endpoint(api, None, "link.updated", "link.clicked", "key.created", url=path, filters=filters)
        for number, name in names.items():
            happen(alice.workspace, "link.updated", link_id=number, name=name)
            happen(alice.workspace, "link.clicked", link_id=number, name=name)
        happen(alice.workspace, "key.created", name="key")
        # Events of deleted links are still chosen by what the links were.
        api.delete(f"/api/urls/{tagged['_id']}")
        deliver()
        got: dict[str, set[str]] = {}
        for raw, request in zip(server.requests, received(server), strict=True):
            path = raw.split()[1].decode().strip("/")
            data = request.message["data"]
            for one in data.get("clicks", [data]):
                got.setdefault(path, set()).add(one["name"])
    assert got == {
        "all": {"tagged", "branded", "plain", "key"},
        "spring": {"tagged"},
        "one": {"plain"},
        "domain": {"branded"},
        "base": {"tagged", "plain"},
    }


def test_a_replay_sends_stored_events_once_more(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        webhook = endpoint(api, server, "link.created", "link.updated")
        happen(alice.workspace, "link.created", 3)
        happen(alice.workspace, "link.updated", 2)
        deliver()
        first = received(server)
        path = f"/api/webhooks/{webhook['_id']}/replay"
        assert api.post(path, {"from": "2026-01-01", "types": ["link.created"]}).status_code == 200
        deliver()
        again = received(server)[5:]
        assert api.post(path, {"from": "2026-01-01", "to": "2026-01-02"}).status_code == 200
        deliver()
        assert len(server.requests) == 8
    created = {request.headers["webhook-id"] for request in first if b"link.created" in request.body}
    assert {request.headers["webhook-id"] for request in again} == created
    assert {request.body for request in again} <= {request.body for request in first}
    assert not Cursor.objects.filter(kind="replay").exists()


def test_a_replay_waits_for_its_deliveries(api: APIClient, alice: NewAccount) -> None:
    listen(alice.workspace)
    happen(alice.workspace, "link.created", 600)
    with receiver(answering("500 Error")) as server:
        webhook = endpoint(api, server)
        path = f"/api/webhooks/{webhook['_id']}/replay"
        assert api.post(path, {"from": "2026-01-01"}).status_code == 200
        FanOut().step()
        assert FanOut().step() == 0
        assert Delivery.objects.count() == 500
        Delivery.objects.filter(pk__gt=Delivery.objects.earliest("pk").pk).update(status="failed")
        Cursor.objects.filter(kind="replay").delete()
        deliver()
        refused = api.post(path, {"from": "2026-01-01"})
        assert (refused.status_code, refused.json()["code"]) == (409, "replay_running")
        assert len(server.requests) == 1


def test_what_happens_while_a_webhook_is_disabled_comes_only_with_a_replay(
    api: APIClient, alice: NewAccount
) -> None:
    with receiver() as server, receiver() as other:
        webhook = endpoint(api, server)
        endpoint(api, other)
        path = f"/api/webhooks/{webhook['_id']}"
        api.patch(path, {"isEnabled": False})
        happen(alice.workspace, "link.created")
        api.patch(path, {"isEnabled": True})
        deliver()
        assert (len(server.requests), len(other.requests)) == (0, 1)
        api.post(f"{path}/replay", {"from": "2026-01-01"})
        deliver()
        assert len(server.requests) == 1


def test_deliveries_are_deleted_with_their_events(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        webhook = endpoint(api, server)
        happen(alice.workspace, "link.created", 2)
        deliver()
    delete_old_events()
    assert Delivery.objects.count() == 2
    old = Delivery.objects.earliest("pk")
    Delivery.objects.filter(pk=old.pk).update(created_at=Now() - timedelta(days=32))
    delete_old_events()
    [left] = api.get(f"/api/webhooks/{webhook['_id']}/deliveries").json()["data"]["deliveries"]
    assert left["_id"] != str(old.public_id)


def test_resent_messages_and_tests(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        webhook = endpoint(api, server, "link.clicked", "link.created")
        path = f"/api/webhooks/{webhook['_id']}"
        happen(alice.workspace, "link.clicked", 3)
        deliver()
        [delivery] = api.get(f"{path}/deliveries").json()["data"]["deliveries"]
        resent = api.post(f"{path}/deliveries/{delivery['_id']}/resend", {}).json()["data"]["delivery"]
        assert (resent["messageId"], resent["status"], resent["request"]) == (
            delivery["messageId"],
            "pending",
            delivery["request"],
        )
        pass_time("2 seconds")
        deliver()
        first, second = received(server)
        assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
        for of_type in ("link.clicked", "link.created"):
            test = api.post(f"{path}/test", {"type": of_type}).json()["data"]["delivery"]
            assert test["isTest"] is True
            deliver()
            [*_, request] = received(server)
            assert request.body.decode() == test["request"]["body"]
            assert request.message["type"] == of_type
        assert api.post(f"{path}/test", {}).json()["data"]["delivery"]["type"] == "link.clicked"
