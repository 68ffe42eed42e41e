"""The recipes do what they say: their own text runs against the service."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

import pytest
import yaml
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient
from slack_sdk.signature import SignatureVerifier

from accounts.models import ScopedKey
from accounts.services import NewAccount
from accounts.token_issuers.services import create_issuer
from clients.recipes import slack_command
from links.models import Link
from testing.accounts.issuers import Issuer, rsa_key
from testing.cases import for_each
from testing.clients.building import run_installation
from testing.nodejs import node
from testing.service.running import REPOSITORY

RECIPES = REPOSITORY / "clients/recipes"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on the loopback interface."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


# GitHub


def test_a_job_of_github_applies_its_file_with_its_own_token(
    live_server: LiveServer, alice: NewAccount, tmp_path: Path
) -> None:
    [job] = yaml.safe_load((RECIPES / "github-actions.yml").read_text())["jobs"].values()
    installation, apply = [step["run"] for step in job["steps"] if "run" in step]
    # The last commit of this repository, under the address in the recipe.
    programs = run_installation(
        installation,
        tmp_path,
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{REPOSITORY}.insteadOf",
        GIT_CONFIG_VALUE_0="https://git.example.com/shortener.git",
    )
    issuer = Issuer("https://token.actions.githubusercontent.com", {"a": rsa_key()})
    create_issuer(
        workspace=alice.workspace,
        creator=alice.user,
        name="Links",
        scopes=["urls:read", "urls:write"],
        issuer=issuer.url,
        audience=live_server.url,
        subject="repo:acme/site:ref:refs/heads/main",
        jwks=issuer.jwks,
    )
    # The runner's own server, which gives tokens to whoever has the job's secret.
    requested: list[tuple[str, str]] = []

    class Runner(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append((self.path, self.headers["Authorization"]))
            [audience] = parse_qs(urlsplit(self.path).query)["audience"]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"value": issuer.token("a", aud=audience)}).encode())

    (tmp_path / "links.yaml").write_text("links: [{externalId: spring, originalUrl: https://example.com/}]\n")
    with serving(Runner) as runner:
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", apply],
            cwd=tmp_path,
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
                "SHORTENER_URL": live_server.url,
                "SHORTENER_WORKSPACE": str(alice.workspace.public_id),
                "ACTIONS_ID_TOKEN_REQUEST_URL": f"{runner}/token?api-version=2",
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runner-secret",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert requested == [
        (f"/token?api-version=2&audience={live_server.url}", "Bearer runner-secret"),
    ]
    key = ScopedKey.objects.get()
    assert (Link.objects.get().external_id, Link.objects.get().key_id) == ("spring", key.pk)
    assert key.last_used_at is not None
    # The log of the job hides it.
    assert done.stdout.startswith("::add-mask::eyJ")


# n8n


def test_the_workflow_of_n8n_creates_a_link_and_reads_its_clicks(api: APIClient, tmp_path: Path) -> None:
    """n8n itself is not here; its own package has read this file when it was written."""
    flow = json.loads((RECIPES / "n8n.json").read_text())
    nodes = {node["name"]: node for node in flow["nodes"]}
    assert len(nodes) == len(flow["nodes"]) == len({node["id"] for node in flow["nodes"]})
    order, item = ["Start"], {}
    while following := flow["connections"].get(order[-1]):
        [[connection]] = following["main"]
        order.append(connection["node"])
    assert order == list(nodes)
    for name in order[1:]:
        parameters = nodes[name]["parameters"]
        if "jsonOutput" in parameters:
            item = json.loads(parameters["jsonOutput"])
            continue
        assert parameters["genericAuthType"] == "httpHeaderAuth"
        path = urlsplit(evaluated(parameters["url"], item, tmp_path)).path
        query = {
            each["name"]: each["value"]
            for each in parameters.get("queryParameters", {}).get("parameters", [])
        }
        if parameters.get("method") == "POST":
            response = api.post(path, json.loads(evaluated(parameters["jsonBody"], item, tmp_path)))
        else:
            response = api.get(path, query)
        assert response.status_code in (200, 201), response.content
        item = response.json()
    assert item["data"]["totalClicks"] == 0
    assert [(link.original_url, link.tags) for link in Link.objects.all()] == [
        ("https://example.com/spring", ["spring"])
    ]


def evaluated(text: str, item: dict[str, Any], folder: Path) -> str:
    """The value of a parameter: an expression is JavaScript about the item."""
    if not text.startswith("="):
        return text

    def value(match: re.Match[str]) -> str:
        script = folder / "expression.js"
        script.write_text(f"const $json = {json.dumps(item)}; process.stdout.write(String({match[1]}))")
        done = node(script, cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return re.sub(r"\{\{(.*)\}\}", value, text[1:])


# Slack

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch, live_server: LiveServer, alice: NewAccount) -> Iterator[str]:
    """The address of the receiver."""
    monkeypatch.setenv("SHORTENER_URL", live_server.url)
    monkeypatch.setenv("SHORTENER_API_KEY", alice.api_key)
    monkeypatch.setenv("SLACK_SIGNING_SECRET", SECRET)
    with serving(slack_command.Receiver) as address:
        yield address


def command(address: str, text: str, timestamp: str | None = None, signature: str | None = None) -> Any:
    """What Slack shows, or the status of a refusal. By default, Slack's own library signs."""
    verifier = SignatureVerifier(SECRET)
    body = urlencode({"command": "/shorten", "text": text, "user_name": "ada"})
    now = timestamp or str(int(verifier.clock.now()))
    signed = verifier.generate_signature(timestamp=now, body=body) if signature is None else signature
    headers = {"X-Slack-Request-Timestamp": now, "X-Slack-Signature": signed or ""}
    try:
        request = Request(address, body.encode(), headers)  # noqa: S310 # of the test
        with urlopen(request) as response:  # noqa: S310 # see above
            return json.load(response)["text"]
    except HTTPError as error:
        return error.code


def test_a_slash_command_creates_a_link(slack: str) -> None:
    first = command(slack, "<https://example.com/a|example.com/a> spring26")
    assert first.endswith("/spring26")
    assert command(slack, "https://example.com/a") == first
    assert command(slack, "https://example.com/b spring26") == "The code spring26 is already in use."
    assert command(slack, " ") == "Usage: /shorten URL [CODE]"
    assert Link.objects.count() == 1


@for_each(
    ("timestamp", "signature"),
    [(None, "v0=" + "0" * 64), (None, ""), (None, "é"), ("1000000000", None), ("now", "v0="), ("²", None)],
)
def test_only_slack_may_send_commands(timestamp: str | None, signature: str | None, slack: str) -> None:
    assert command(slack, "https://example.com/", timestamp, signature) == 401
    assert Link.objects.count() == 0
