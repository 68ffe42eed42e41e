"""The receivers of docs/webhooks.md, with the official libraries."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.outbound import send
from events.webhooks.models import Delivery
from testing.events.receivers import deliver, endpoint, happen, pass_time
from testing.nodejs import node_modules
from testing.polling import eventually
from testing.service.ports import free_port, listens

PAGE = (Path(__file__).parents[3] / "docs/webhooks.md").read_text()


def documented(language: str) -> str:
    [code] = re.findall(rf"^```{language}\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return code


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_documented_receiver_takes_messages_once_and_refuses_others(
    language: str, api: APIClient, alice: NewAccount, tmp_path: Path
) -> None:
    name, program = ("receiver.py", Path(sys.executable))
    if language == "typescript":
        (tmp_path / "node_modules").symlink_to(node_modules())
        name, program = ("receiver.ts", Path(sys.prefix, "bin/node"))
    (tmp_path / name).write_text(documented(language))
    port = free_port()
    url = f"http://127.0.0.1:{port}/hooks"
    webhook = endpoint(api, None, "link.created", url=url)
    environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": webhook["secret"], "PORT": str(port)}
    # Node.js is a child of its program in the virtual environment.
    with subprocess.Popen(
        [program, name],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            eventually(lambda: listens(port))
            happen(alice.workspace, "link.created", link={"title": "Spring"})
            deliver()
            delivery = api.get(f"/api/webhooks/{webhook['_id']}/deliveries").json()["data"]["deliveries"][0]
            assert (delivery["status"], delivery["responseStatus"]) == ("delivered", 204)
            api.post(f"/api/webhooks/{webhook['_id']}/deliveries/{delivery['_id']}/resend", {})
            deliver()
            assert Delivery.objects.filter(http_status=204).count() == 2
            # During a rotation the receiver still has the former secret.
            api.post(f"/api/webhooks/{webhook['_id']}/rotate-secret", {})
            happen(alice.workspace, "link.created", link={"title": "Summer"})
            deliver()
            assert Delivery.objects.filter(http_status=204).count() == 3
            pass_time("25 hours")
            happen(alice.workspace, "link.created", link={"title": "Autumn"})
            deliver()
            assert Delivery.objects.filter(http_status=401).count() == 1
            forged = send("POST", url, body=b'{"id": "x", "type": "link.created", "data": {}}')
            assert forged.status == 401
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        assert process.stdout is not None
        printed = process.stdout.read().splitlines()
    assert [re.findall("Spring|Summer|Autumn", line) for line in printed] == [["Spring"], ["Summer"]]
