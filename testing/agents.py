"""Messages of the Model Context Protocol to the service, in both of its forms."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from rest_framework.test import APIClient

MODERN, FORMER = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def message(method: str, params: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A request of the current revision."""
    return {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {"_meta": META, **(params or {})},
        **members,
    }


def headers_of(sent: dict[str, Any]) -> dict[str, str]:
    """The headers with which a client of the current revision sends a message."""
    headers = {"mcp-protocol-version": MODERN, "mcp-method": sent["method"]}
    name = sent["params"].get("name")
    return headers if name is None else {**headers, "mcp-name": name}


def post(client: APIClient, content: Any, **headers: str) -> HttpResponse:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.generic("POST", "/mcp", body, "application/json", headers=named)


def send(client: APIClient, method: str, params: dict[str, Any] | None = None) -> HttpResponse:
    """A request of the current revision."""
    sent = message(method, params)
    return post(client, sent, **headers_of(sent))


def call_tool(client: APIClient, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The result of a tool, which may be an error of the tool."""
    response = send(client, "tools/call", {"name": tool, "arguments": arguments})
    assert response.status_code == 200, response.content
    answer = response.json()
    assert answer.keys() == {"jsonrpc", "id", "result"}
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    result: dict[str, Any] = answer["result"]
    assert result.pop("resultType") == "complete"
    return result


def data_of(result: dict[str, Any]) -> dict[str, Any]:
    """What a successful tool returns for programs."""
    assert "isError" not in result, result
    data: dict[str, Any] = result["structuredContent"]
    return data


def text_of(result: dict[str, Any]) -> str:
    text: str = result["content"][0]["text"]
    return text


def listed(client: APIClient) -> list[str]:
    """The names of the tools that the client may use."""
    response = send(client, "tools/list")
    assert response.status_code == 200, response.content
    return [tool["name"] for tool in response.json()["result"]["tools"]]
