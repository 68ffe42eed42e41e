"""What reaches a receiver, when it is tried again, and what the API says about it."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from dns.rcode import NOERROR, SERVFAIL, Rcode
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from accounts.mails import may_notify
from accounts.services import NewAccount
from bans.services import ban_account
from events.types import EventType
from events.webhooks import fan_out as fan_out_module
from events.webhooks.deliverer import SLOW_THREADS
from events.webhooks.fan_out import FanOut
from events.webhooks.leases import lease
from events.webhooks.models import Cursor, Delivery, Format, Webhook
from events.webhooks.retries import DELAYS
from testing.domains.dns_server import DnsServer
from testing.domains.resolution import dns as dns
from testing.events.receivers import (
    deliver,
    endpoint,
    happen,
    in_turn,
    pass_time,
    received,
    receiver,
    wait_for_events,
)
from testing.outbound.servers import answering, dripping

pytestmark = pytest.mark.django_db(transaction=True)


def deliveries(api: APIClient, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    response = api.get(f"/api/webhooks/{webhook['_id']}/deliveries", query)
    assert response.status_code == 200, response.json()
    return response.json()["data"]["deliveries"]


def test_a_message_has_the_event_and_a_valid_signature(api: APIClient, alice: NewAccount) -> None:
    with receiver(answering("202 Accepted", body=b"thanks\0")) as server:
        webhook = endpoint(api, server)
        happen(alice.workspace, "link.created", link={"title": "Spring"})
        deliver()
    [request] = received(server)
    message = Verifier(webhook["secret"]).verify(request.body, request.headers)
    assert message == {
        "id": request.headers["webhook-id"],
        "type": "link.created",
        "timestamp": message["timestamp"],
        "workspaceId": str(alice.workspace.public_id),
        "data": {"number": 0, "code": "x", "link": {"title": "Spring"}},
    }
    assert request.headers["content-type"] == "application/json"
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook["secret"]).verify(request.body.replace(b"Spring", b"Winter"), request.headers)
    [shown] = deliveries(api, webhook)
    assert 0 < shown.pop("seconds") < 15
    assert shown.pop("sentAt") >= shown.pop("createdAt")
    del shown["_id"]
    assert shown == {
        "messageId": message["id"],
        "type": "link.created",
        "events": 1,
        "isTest": False,
        "status": "delivered",
        "attempts": 1,
        "nextAttemptAt": None,
        "responseStatus": 202,
        "response": "thanks\ufffd",
        "error": None,
        "request": {"host": "127.0.0.1", "body": request.body.decode()},
    }


def test_only_2xx_counts_and_every_repetition_has_the_same_id(api: APIClient, alice: NewAccount) -> None:
    """Three days of failures, in the intervals that the documents promise."""
    statuses = ["500 Error", "302 Found", "404 Not Found", "100 Continue", "503 Busy"]
    manners = [answering(status, "Location: http://127.0.0.1/") for status in statuses]
    with receiver(in_turn(*manners, *[answering("400 Bad")] * 5)) as server:
        webhook = endpoint(api, server)
        happen(alice.workspace, "link.created")
        for attempt, delay in enumerate(DELAYS, 1):
            pass_time(f"{max(0, delay - 2)} seconds")
            if delay:
                deliver()
                assert len(server.requests) == attempt - 1
            pass_time(f"{3 + delay // 9} seconds")
            deliver()
            assert len(server.requests) == attempt
        pass_time("30 days")
        deliver()
    assert len(server.requests) == len(DELAYS) == 10
    requests = received(server)
    assert len({(request.headers["webhook-id"], request.body) for request in requests}) == 1
    [shown] = deliveries(api, webhook)
    assert (shown["status"], shown["attempts"], shown["responseStatus"]) == ("failed", 10, 400)
    assert shown["nextAttemptAt"] is None


@pytest.mark.parametrize("requested", ["3600", "Tue, 29 Nov 2044 00:00:00 GMT"])
def test_retry_after_pauses_the_endpoint(api: APIClient, alice: NewAccount, requested: str) -> None:
    with receiver(in_turn(answering("429 Slow Down", f"Retry-After: {requested}"), answering())) as server:
        webhook = endpoint(api, server)
        happen(alice.workspace, "link.created")
        deliver()
        happen(alice.workspace, "link.created")
        pass_time("3590 seconds")
        deliver()
        # Neither the message nor another one.
        assert len(server.requests) == 1
        # A request for more than a day is a request for a day.
        pass_time("11 seconds" if requested == "3600" else "23 hours 5 minutes")
        deliver()
        assert len(server.requests) == 3
    assert {shown["status"] for shown in deliveries(api, webhook)} == {"delivered"}


def test_a_nonsensical_retry_after_asks_for_nothing(api: APIClient, alice: NewAccount) -> None:
    far = "Retry-After: Mon, 01 Jan 99999999999999999999 00:00:00 GMT"
    with receiver(answering("429 Slow Down", far)) as server:
        webhook = endpoint(api, server)
        happen(alice.workspace, "link.created")
        deliver()
    [shown] = deliveries(api, webhook)
    assert (shown["status"], shown["responseStatus"], shown["attempts"]) == ("pending", 429, 1)
    assert shown["sentAt"] is not None
    assert Webhook.objects.get().paused_until is None


def test_410_disables_the_endpoint(
    api: APIClient, alice: NewAccount, settings: Settings, mailoutbox: list[Any]
) -> None:
    settings.SENDS_MAIL = True
    # Alice has got as many mails as she may.
    while may_notify(alice.user):
        pass
    with receiver(answering("410 Gone")) as server, receiver() as other:
        webhook = endpoint(api, server)
        endpoint(api, other, "webhook.disabled")
        happen(alice.workspace, "link.created")
        deliver()
        happen(alice.workspace, "link.created")
        wait_for_events()
        deliver()
    assert len(server.requests) == 1
    shown = api.get(f"/api/webhooks/{webhook['_id']}").json()["data"]["webhook"]
    assert (shown["isEnabled"], shown["disabledReason"]) == (False, "gone")
    [event] = received(other)
    assert event.message["data"] == {
        "webhook": {"id": webhook["_id"], "name": "Shop", "disabledReason": "gone"}
    }
    assert mailoutbox == []


def test_what_waits_when_a_webhook_is_disabled_fails(api: APIClient, alice: NewAccount) -> None:
    with receiver(answering("500 Error")) as server:
        webhook = endpoint(api, server)
        path = f"/api/webhooks/{webhook['_id']}"
        happen(alice.workspace, "link.created")
        deliver()
        happen(alice.workspace, "link.created")
        FanOut().step()
        api.patch(path, {"isEnabled": False})
        never, once = deliveries(api, webhook)
        assert (never["status"], never["attempts"], never["error"]) == (
            *("failed", 0),
            "The webhook was disabled.",
        )
        assert (once["status"], once["attempts"], once["responseStatus"], once["error"]) == (
            *("failed", 1, 500),
            None,
        )
        api.patch(path, {"isEnabled": True})
        pass_time("1 day")
        deliver()
        assert len(server.requests) == 1


def test_five_days_of_nothing_but_failures_disable_the_endpoint(
    api: APIClient, alice: NewAccount, settings: Settings, mailoutbox: list[Any]
) -> None:
    settings.SENDS_MAIL = True
    with receiver(answering("500 Error")) as server:
        webhook = endpoint(api, server)
        for _ in range(5):
            happen(alice.workspace, "link.created")
            deliver()
            assert api.get(f"/api/webhooks/{webhook['_id']}").json()["data"]["webhook"]["isEnabled"]
            pass_time("1 day 1 minute")
        happen(alice.workspace, "link.created")
        deliver()
        sent = len(server.requests)
        pass_time("2 days")
        deliver()
    assert len(server.requests) == sent
    shown = api.get(f"/api/webhooks/{webhook['_id']}").json()["data"]["webhook"]
    assert (shown["isEnabled"], shown["disabledReason"]) == (False, "failing")
    [mail] = mailoutbox
    assert mail.to == ["alice@example.com"]
    assert "The webhook Shop of 127.0.0.1 has been disabled" in mail.body


def test_a_success_or_a_silence_ends_the_days_of_failures(api: APIClient, alice: NewAccount) -> None:
    failure, success = answering("500 Error"), answering()
    with receiver(in_turn(failure, success, failure, failure)) as server:
        webhook = endpoint(api, server)
        happen(alice.workspace, "link.created")
        deliver()
        pass_time("6 days")
        deliver()
        assert deliveries(api, webhook)[0]["status"] == "delivered"
        happen(alice.workspace, "link.created")
        deliver()
        pass_time("6 days")
        deliver()
    assert len(server.requests) == 4
    assert Webhook.objects.get().is_enabled


def test_an_endpoint_with_few_events_is_disabled_as_well(api: APIClient, alice: NewAccount) -> None:
    """The last attempt of a message is four days before the first of the next."""
    with receiver(answering("500 Error")) as server:
        endpoint(api, server)
        for days in (0, 3, 4):
            pass_time(f"{days} days")
            assert Webhook.objects.get().is_enabled
            happen(alice.workspace, "link.created")
            deliver()
    assert Webhook.objects.get().disabled_reason == "failing"


@pytest.mark.parametrize(
    ("rcode", "error", "is_disabled"),
    [
        (NOERROR, "The name of the host does not exist, or has no address.", True),
        (SERVFAIL, "The resolver does not know the name of the host.", False),
    ],
)
def test_a_missing_name_counts_as_a_failure_and_a_broken_resolver_does_not(
    api: APIClient, alice: NewAccount, dns: DnsServer, rcode: Rcode, error: str, is_disabled: bool
) -> None:
    dns.set("gone.brand.example", "TXT", "no address")
    dns.rcode = rcode
    webhook = endpoint(api, None, url="https://gone.brand.example/hooks")
    for _ in range(3):
        happen(alice.workspace, "link.created")
        deliver()
        pass_time("3 days")
    assert {shown["error"] for shown in deliveries(api, webhook) if shown["attempts"]} == {error}
    assert Webhook.objects.get().disabled_reason == ("failing" if is_disabled else None)


def test_clicks_come_in_groups_and_one_message_a_second(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        webhook = endpoint(api, server, "link.clicked", "link.updated")
        happen(alice.workspace, "link.clicked", 250)
        happen(alice.workspace, "link.updated", 2)
        deliver()
        # Clicks delay nothing else.
        assert sorted(request.message["type"] for request in received(server)) == [
            *["link.clicked"],
            *["link.updated"] * 2,
        ]
        deliver()
        assert len(server.requests) == 3
        for expected in (4, 5, 5):
            pass_time("1 second")
            deliver()
            assert len(server.requests) == expected
    groups = [request for request in received(server) if request.message["type"] == "link.clicked"]
    clicks = [click for group in groups for click in group.message["data"]["clicks"]]
    assert [len(group.message["data"]["clicks"]) for group in groups] == [100, 100, 50]
    assert [click["number"] for click in clicks] == list(range(250))
    assert len({group.headers["webhook-id"] for group in groups}) == 3
    for group in groups:
        Verifier(webhook["secret"]).verify(group.body, group.headers)
    assert [shown["events"] for shown in deliveries(api, webhook, type="link.clicked")] == [50, 100, 100]


def test_a_slow_receiver_delays_nobody_else(
    api: APIClient, strange_api: APIClient, alice: NewAccount, stranger: NewAccount, monkeypatch: Any
) -> None:
    """Four endpoints answer never, with hundreds of messages each; messages to another one arrive meanwhile."""
    monkeypatch.setattr("events.webhooks.parcels.SECONDS", 1.0)
    with receiver(dripping(b"HTTP/1.1 200 OK\r\n")) as slow, receiver() as quick:
        for _ in range(4):
            endpoint(api, slow)
        endpoint(strange_api, quick)
        happen(stranger.workspace, "link.created")
        deliver()
        happen(alice.workspace, "link.created", 40)
        happen(stranger.workspace, "link.created", 40)
        from events.webhooks.deliverer import Deliverer  # noqa: PLC0415

        deliverer = Deliverer()
        while len(quick.requests) < 41:
            deliverer.step()
        # At most one at a time for each endpoint that is not known to be quick.
        assert len(slow.requests) < 4 * 10
        deliverer.close()
    assert Delivery.objects.filter(webhook__workspace=stranger.workspace, status="delivered").count() == 41


def test_only_endpoints_whose_workspace_has_new_events_are_looked_at(
    api: APIClient,
    strange_api: APIClient,
    alice: NewAccount,
    django_assert_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiver() as server:
        webhook = endpoint(api, server)
        endpoint(strange_api, server)
    fan_out = FanOut()
    for _ in range(3):
        assert fan_out.step() == 0
    with django_assert_num_queries(2):
        assert fan_out.step() == 0
    happen(alice.workspace, "link.created")
    with CaptureQueriesContext(connection) as queries:
        assert fan_out.step() == 1
    assert sum("FOR UPDATE OF c" in query["sql"] for query in queries) == 1
    [delivery] = Delivery.objects.all()
    assert str(delivery.webhook.public_id) == webhook["_id"]
    # A cursor that another process has left behind, without new events.
    Cursor.objects.filter(webhook=delivery.webhook).update(position=0)
    assert fan_out.step() == 0
    monkeypatch.setattr(fan_out_module, "monotonic", lambda: monotonic() + 61)
    assert fan_out.step() == 1


def test_a_workspace_gets_its_share_and_busy_endpoints_hide_no_others(
    api: APIClient, strange_api: APIClient, alice: NewAccount, stranger: NewAccount
) -> None:
    def leased(slots: int) -> list[int]:
        taken = lease(slots, list(Format), slow=True, threads=SLOW_THREADS)
        return [one.workspace for one in taken]

    with receiver() as server:
        for _ in range(4):
            endpoint(api, server)
        endpoint(strange_api, server)
    happen(alice.workspace, "link.created", 3)
    happen(stranger.workspace, "link.created", 3)
    FanOut().step()
    assert leased(1) == [alice.workspace.pk]
    Webhook.objects.filter(workspace=alice.workspace, claimed_at=None).update(claimed_at=Now())
    assert leased(1) == [stranger.workspace.pk]
    Delivery.objects.filter(webhook__workspace=stranger.workspace).update(leased_until=None)
    # The endpoint that was leased first gets one message at a time.
    assert leased(1) == [alice.workspace.pk]
    assert leased(8) == [stranger.workspace.pk]
    assert leased(8) == []


def test_every_type_of_event_reaches_only_endpoints_of_its_workspace(
    api: APIClient, strange_api: APIClient, alice: NewAccount, stranger: NewAccount
) -> None:
    types = [kind.value for kind in EventType]
    with receiver() as server, receiver() as other:
        endpoint(api, server, *types)
        endpoint(strange_api, other, *types)
        for of_type in types:
            happen(alice.workspace, of_type)
        deliver()
        messages = [request.message for request in received(server)]
        assert sorted(message["type"] for message in messages) == sorted(types)
        assert {message["workspaceId"] for message in messages} == {str(alice.workspace.public_id)}
        assert other.requests == []


def test_a_banned_workspace_sends_nothing(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        endpoint(api, server)
        happen(alice.workspace, "link.created")
        ban = ban_account(owner=alice.workspace)
        deliver()
        assert server.requests == []
        ban.delete()
        deliver()
        assert len(server.requests) == 1


def test_without_outbound_requests_nothing_is_sent(
    api: APIClient, alice: NewAccount, settings: Settings
) -> None:
    with receiver() as server:
        endpoint(api, server)
        happen(alice.workspace, "link.created")
        settings.OUTBOUND = False
        deliver()
        assert server.requests == []
        refused = api.post(
            "/api/webhooks", {"name": "x", "types": ["link.created"], "url": "https://example.com/"}
        )
        assert (refused.status_code, refused.json()["code"]) == (409, "outbound_off")
        settings.OUTBOUND = True
        deliver()
        assert len(server.requests) == 1


def test_both_secrets_sign_for_a_day_after_a_rotation(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        webhook = endpoint(api, server)
        rotated = api.post(f"/api/webhooks/{webhook['_id']}/rotate-secret", {}).json()["data"]
        happen(alice.workspace, "link.created")
        deliver()
        pass_time("24 hours 1 second")
        happen(alice.workspace, "link.created")
        deliver()
    during, after = received(server)
    assert rotated["secret"] != webhook["secret"]
    for secret in (webhook["secret"], rotated["secret"]):
        Verifier(secret).verify(during.body, during.headers)
    Verifier(rotated["secret"]).verify(after.body, after.headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook["secret"]).verify(after.body, after.headers)
