"""Official clients of the protocol against the running service, in both of its lanes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from agents.tools import TOOLS
from testing.agents import FORMER, MODERN
from testing.nodejs import node, node_modules
from testing.service.fixtures import make_service as make_service
from testing.service.running import REPOSITORY, Service

pytestmark = pytest.mark.slow

MakeService = Callable[..., Service]
NODE_CLIENT = Path(__file__).with_name("client.mjs")


def configured(service: Service, api_key: str) -> dict[str, Any]:
    """The server in the configuration of the guide, with the address of this service and this key."""
    guide = (REPOSITORY / "docs/guide.md").read_text()
    [text] = re.findall(r'^    (\{"mcpServers": .*?\n\n)', guide, re.M | re.S)
    text = text.replace("http://127.0.0.1:8000", service.url).replace("sl_key_…", api_key)
    [server] = json.loads(text)["mcpServers"].values()
    assert server.pop("type") == "http"
    return server


async def use(url: str, headers: dict[str, str], mode: str) -> dict[str, Any]:
    """What a program does: connect, list the tools, and use some."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        tools = (await client.list_tools()).tools
        created = await client.call_tool("create_link", {"originalUrl": "https://example.com/"})
        identifier = created.structured_content["url"]["_id"]
        code = await client.call_tool("make_qr", {"id": identifier})
        refused = await client.call_tool("update_link", {"id": identifier, "customCode": "?"})
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("delete_all", {})
        return {
            "revision": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools],
            "created": created.content[0].text.startswith("Created http"),
            "image": code.content[1].type,
            "refused": [refused.is_error, refused.structured_content["code"]],
            "unknown": unknown.value.code,
        }


def used(revision: str) -> dict[str, Any]:
    return {
        "revision": revision,
        "server": "url-shortener",
        "tools": list(TOOLS),
        "created": True,
        "image": "image",
        "refused": [True, "validation_error"],
        "unknown": -32602,
    }


@pytest.mark.parametrize("lane", [{}, {"FAST_LANE": "no"}], ids=["lane", "plain"])
def test_clients_of_both_revisions_use_the_tools(
    make_service: MakeService, tmp_path: Path, lane: dict[str, str]
) -> None:
    service = make_service(**lane)
    service.start()
    server = configured(service, service.owner.api_key)
    assert anyio.run(use, *server.values(), "auto") == used(MODERN)
    assert anyio.run(use, *server.values(), "legacy") == used(FORMER)

    # The last release of the client before the current revision. It finds its packages beside the script.
    script = tmp_path / NODE_CLIENT.name
    script.write_text(NODE_CLIENT.read_text())
    (tmp_path / "node_modules").symlink_to(node_modules())
    result = node(script, json.dumps(server), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == used(FORMER)


def test_a_client_without_a_valid_key_is_told_why(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    with pytest.RaisesGroup(
        pytest.RaisesExc(MCPError, match=r"The API key is not valid\."), flatten_subgroups=True
    ):
        anyio.run(use, *configured(service, "sl_live_" + "0" * 38).values(), "auto")
