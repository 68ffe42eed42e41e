"""The whole service: what happens in it reaches a receiver, also after kills."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from testing.events.receivers import address_of, in_turn, received, receiver
from testing.outbound.servers import answering
from testing.polling import eventually
from testing.service.fixtures import make_database as make_database
from testing.service.fixtures import make_service as make_service
from testing.service.running import Service

pytestmark = pytest.mark.slow
CLICKS = 40


def test_a_receiver_gets_each_click_at_least_once_under_kills(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    service = make_service(
        DATABASE_URL=make_database(),
        SECRET_KEY="0123456789abcdef" * 3,
        OUTBOUND_ALLOWED_NETWORKS="127.0.0.0/8",
        OUTBOUND_PLAIN_HTTP="yes",
    )
    service.start()
    key = service.owner.api_key
    failures = [answering("503 Busy", "Retry-After: 1")] * 3
    with receiver(in_turn(*failures, answering())) as server:
        body = {"name": "Shop", "types": ["link.created", "link.clicked"], "url": address_of(server)}
        created = service.call("POST", "/api/webhooks", body, X_API_Key=key)
        assert created.status == 201, created.body
        link = service.create_link(key)
        for number in range(CLICKS):
            assert service.call("GET", f"/{link['shortCode']}").status == 302
            if number % 10 == 5:
                os.kill(service.child(("deliver_events", "drain_clicks")[number % 20 == 5]), signal.SIGKILL)

        def messages(of_type: str) -> list[Any]:
            sent = [request.message for request in received(server)]
            return [message["data"] for message in sent if message["type"] == of_type]

        def clicks() -> set[str]:
            return {click["id"] for data in messages("link.clicked") for click in data["clicks"]}

        eventually(lambda: len(clicks()) == CLICKS and messages("link.created") != [])
    assert {data["link"]["id"] for data in messages("link.created")} == {link["_id"]}
