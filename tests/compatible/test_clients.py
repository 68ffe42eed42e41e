"""Published clients of the other shorteners create and find links in the running service."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pyshorteners
import pytest

from testing.nodejs import node, node_modules
from testing.polling import DEADLINE
from testing.service.connection import read_to_end
from testing.service.fixtures import make_service as make_service
from testing.service.running import Service

pytestmark = pytest.mark.slow

SHLINK_CLIENT = Path(__file__).with_name("shlink.mjs")


def post_in_chunks(port: int, api_key: str, chunks: bytes) -> int:
    """The status of a request with this body."""
    head = (
        "POST /rest/v3/short-urls HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"X-Api-Key: {api_key}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(head.encode() + chunks)
        return int(read_to_end(connection).split()[1])


@pytest.mark.parametrize("lane", [{}, {"FAST_LANE": "no"}], ids=["lane", "plain"])
def test_clients_need_only_another_address(
    make_service: Callable[..., Service], tmp_path: Path, lane: dict[str, str]
) -> None:
    service = make_service(COMPATIBLE_APIS="shlink, Bitly", **lane)
    service.start()
    api_key = service.owner.api_key

    shortener = pyshorteners.Shortener(api_key=api_key, timeout=60).bitly
    shortener.api_url = f"{service.url}/v4"
    short = shortener.short("https://example.com/bitly")
    assert service.call("GET", short[short.rindex("/") :]).headers["Location"] == "https://example.com/bitly"
    assert shortener.expand(short) == "https://example.com/bitly"
    shortener.api_key = "wrong"
    with pytest.raises(pyshorteners.exceptions.ShorteningErrorException, match="FORBIDDEN"):
        shortener.short("https://example.com/bitly")

    # Shlink's client for Node.js sends its bodies in chunks.
    for chunks, status in ((b"2\r\n{}\r\n0\r\n\r\n", 400), (b"zz\r\n{}\r\n0\r\n\r\n", 400)):
        assert post_in_chunks(service.port, api_key, chunks) == status
    too_large = b"%x\r\n%s\r\n0\r\n\r\n" % (70_000, b"x" * 70_000)
    assert post_in_chunks(service.port, api_key, too_large) == 413

    script = tmp_path / SHLINK_CLIENT.name
    script.write_text(SHLINK_CLIENT.read_text())
    (tmp_path / "node_modules").symlink_to(node_modules())
    result = node(script, service.url, api_key, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "health": "pass",
        "created": ["spring", "https://example.com/shlink", 5],
        "found": "spring",
        "listed": [["spring"], 1],
        "taken": "https://shlink.io/api/error/non-unique-slug",
        "unknown": "https://shlink.io/api/error/short-url-not-found",
        "wrongKey": "https://shlink.io/api/error/invalid-api-key",
    }
    assert service.call("GET", "/spring").headers["Location"] == "https://example.com/shlink"
