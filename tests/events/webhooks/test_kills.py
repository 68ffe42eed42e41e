"""A deliverer that is killed, and several at once: each message arrives at least once, and never twice at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from events.webhooks.deliverer import Deliverer
from events.webhooks.models import Delivery
from testing.events.receivers import deliver, endpoint, happen, pass_time, received, receiver
from testing.outbound.servers import answering
from testing.polling import eventually

pytestmark = pytest.mark.django_db(transaction=True)
REPOSITORY = Path(__file__).parents[3]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def deliverer_process() -> Iterator[subprocess.Popen[bytes]]:
    """`manage.py deliver_events` with the database of this test."""
    of_test = connection.settings_dict
    database = (
        f"postgresql://{of_test['USER']}:{of_test['PASSWORD']}@/{of_test['NAME']}"
        f"?host={of_test['HOST']}&port={of_test['PORT']}"
    )
    environment = {
        **os.environ,
        "DATABASE_URL": database,
        "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8",
        "OUTBOUND_PLAIN_HTTP": "yes",
    }
    process = subprocess.Popen(
        [sys.executable, "manage.py", "deliver_events"], cwd=REPOSITORY, env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_kill_between_the_answer_and_the_commit_repeats_the_message_with_its_id(
    api: APIClient, alice: NewAccount
) -> None:
    with deliverer_process() as process:

        def answer_and_kill(client: Any, head: bytes, stop: Event) -> None:
            """The receiver has the message; nobody will know."""
            os.kill(process.pid, signal.SIGKILL)
            client.sendall(OK)

        with receiver(answer_and_kill) as server:
            webhook = endpoint(api, server)
            happen(alice.workspace, "link.created")
            eventually(lambda: process.poll() is not None)
            assert Delivery.objects.get().status == "pending"
            deliver()
            assert len(server.requests) == 1
            first = received(server)
    with receiver() as server:
        api.patch(f"/api/webhooks/{webhook['_id']}", {"url": f"http://127.0.0.1:{server.port}/"})
        pass_time("61 seconds")
        deliver()
        second = received(server)
    [before], [after] = first, second
    assert (before.headers["webhook-id"], before.body) == (after.headers["webhook-id"], after.body)
    assert Delivery.objects.get().status == "delivered"


def test_two_deliverers_never_send_a_delivery_at_the_same_time(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        endpoint(api, server)
        happen(alice.workspace, "link.created", 60)
        deliverers = [Deliverer(), Deliverer()]
        while any([deliverer.step() for deliverer in deliverers]):
            pass
        for deliverer in deliverers:
            deliverer.close()
        counts = Counter(request.headers["webhook-id"] for request in received(server))
    assert (len(counts), set(counts.values())) == (60, {1})


def test_an_outcome_is_stored_by_the_process_that_holds_the_lease(api: APIClient, alice: NewAccount) -> None:
    """The first stood still for longer than its lease, and its answer comes after that of the second."""
    release = Event()

    def wait(client: Any, head: bytes, stop: Event) -> None:
        release.wait(10)
        answering("500 Error")(client, head, stop)

    with receiver(wait) as slow:
        webhook = endpoint(api, slow)
        happen(alice.workspace, "link.created")
        frozen = Deliverer()
        frozen.step()
        eventually(lambda: slow.requests)
        pass_time("61 seconds")
        with receiver() as quick:
            api.patch(f"/api/webhooks/{webhook['_id']}", {"url": f"http://127.0.0.1:{quick.port}/"})
            deliver()
            assert len(quick.requests) == 1
        release.set()
        frozen.close()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.http_status) == ("delivered", 2, 200)
