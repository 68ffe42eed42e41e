"""Calls with many links over real sockets: large request bodies and long exports."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from testing.service.running import Connection, Service

pytestmark = pytest.mark.slow

COUNT = 1_000


def test_a_thousand_links_are_created_exported_and_imported(service: Service, api_key: str) -> None:
    key = {"X_API_Key": api_key}
    urls = [
        {"originalUrl": f"https://example.com/{n}", "tags": ["many"], "title": "x" * 150}
        for n in range(COUNT)
    ]
    with closing(Connection(service.port)) as connection:
        response = connection.call("POST", "/api/urls/bulk", {"urls": urls}, **key)
        assert response.status == 200
        assert response.json()["data"]["succeeded"] == COUNT
        ids = [result["url"]["_id"] for result in response.json()["data"]["results"]]

        # Longer than a socket buffer. The connection stays usable afterwards.
        head = connection.call("HEAD", "/api/urls/export?tags=many&format=jsonl", **key)
        assert (head.status, head.body) == (200, b"")
        response = connection.call("GET", "/api/urls/export?tags=many&format=jsonl", **key)
        assert response.status == 200
        assert response.headers["Transfer-Encoding"] == "chunked"
        assert response.headers["Content-Length"] is None
        exported = [json.loads(line)["_id"] for line in response.body.splitlines()]
        assert sorted(exported) == sorted(ids)

        content = response.body.decode()
        rehearsal = connection.call("POST", "/api/urls/import", {"content": content}, **key)
        assert rehearsal.json()["data"]["failed"] == COUNT
        deleted = connection.call("POST", "/api/urls/bulk-delete", {"ids": ids}, **key)
        assert deleted.json()["data"]["succeeded"] == COUNT
        imported = connection.call("POST", "/api/urls/import", {"content": content, "dryRun": False}, **key)
        assert imported.json()["data"]["succeeded"] == COUNT
