"""Receivers of webhooks on the loopback interface, and endpoints that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson
from django.db import connection, transaction
from rest_framework.test import APIClient

from accounts.models import Workspace
from common.database import fetch
from events.outbox import emit
from events.types import EventType
from events.webhooks.deliverer import run
from testing.outbound.servers import Manner, RawServer, answering, raw_server
from testing.polling import eventually


class Received(NamedTuple):
    """``body`` is as it came, ``message`` the same parsed."""

    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return orjson.loads(self.body)


def received(server: RawServer) -> list[Received]:
    requests = []
    for request in server.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:]]
        requests.append(Received({name.lower(): value for name, value in lines}, body))
    return requests


@contextmanager
def receiver(manner: Manner | None = None) -> Iterator[RawServer]:
    with raw_server(manner or answering()) as server:
        yield server


def in_turn(*manners: Manner) -> Manner:
    """The first answers the first request, and so on; the last answers all others."""
    left = list(manners)

    def answer(*arguments: Any) -> None:
        manner = left.pop(0) if len(left) > 1 else left[0]
        manner(*arguments)

    return answer


def address_of(server: RawServer) -> str:
    return f"http://127.0.0.1:{server.port}/hooks"


def endpoint(api: APIClient, server: RawServer | None, *types: str, **fields: Any) -> dict[str, Any]:
    """A new endpoint, as the API returns it, with its ``secret``."""
    body = {"name": "Shop", "types": types or [EventType.LINK_CREATED.value], **fields}
    if server is not None:
        body["url"] = address_of(server)
    response = api.post("/api/webhooks", body)
    assert response.status_code == 201, response.json()
    data = response.json()["data"]
    return {**data["webhook"], "secret": data["secret"]}


def happen(
    workspace: Workspace, of_type: str, number: int = 1, link_id: int | None = None, **data: Any
) -> None:
    """Emit this many events, as the service does, and wait until they may be read. Each has its ``number``."""
    with transaction.atomic():
        for at in range(number):
            emit(workspace.pk, EventType(of_type), {"number": at, **data}, link_id=link_id)
    wait_for_events()


def wait_for_events() -> None:
    """Transactions of tests in other databases of the server count as unfinished ones, too."""
    [[last]] = fetch("SELECT coalesce(max(position), 0) FROM events_event")
    eventually(lambda: fetch("SELECT events_horizon() > %s", [last]) == [(True,)])


def deliver() -> None:
    """Send what is due."""
    run(once=True)


def pass_time(interval: str) -> None:
    """Move what the deliverer has stored into the past: it reads the clock of the database."""
    columns = {
        "events_delivery": ("next_at", "leased_until", "created_at", "sent_at"),
        "events_cursor": ("next_at",),
        "events_webhook": (
            *("failing_since", "failed_at", "paused_until", "claimed_at", "grouped_at"),
            "former_secret_until",
        ),
    }
    with connection.cursor() as cursor:
        for table, names in columns.items():
            changes = ", ".join(f"{name} = {name} - interval '{interval}'" for name in names)
            cursor.execute(f"UPDATE {table} SET {changes}")
