"""Calls with many links on the wire: their bodies are large, and an export is as long as it is."""

from __future__ import annotations

import json
from contextlib import closing

from tests.service.running import Connection, Service

COUNT = 1_000


def test_a_thousand_links_go_in_and_out(service: Service, api_key: str) -> None:
    key = {"X_API_Key": api_key}
    urls = [
        {"originalUrl": f"https://example.com/{n}", "tags": ["many"], "title": "x" * 150}
        for n in range(COUNT)
    ]
    with closing(Connection(service.port)) as connection:
        answer = connection.ask("POST", "/api/urls/bulk", {"urls": urls}, **key)
        assert answer.status == 200
        assert answer.json()["data"]["succeeded"] == COUNT
        ids = [result["url"]["_id"] for result in answer.json()["data"]["results"]]

        # Longer than what a socket takes at once. The connection is good for more afterwards.
        head = connection.ask("HEAD", "/api/urls/export?tags=many&format=jsonl", **key)
        assert (head.status, head.body) == (200, b"")
        answer = connection.ask("GET", "/api/urls/export?tags=many&format=jsonl", **key)
        assert answer.status == 200
        assert answer.headers["Transfer-Encoding"] == "chunked"
        assert answer.headers["Content-Length"] is None
        found = [json.loads(line)["_id"] for line in answer.body.splitlines()]
        assert sorted(found) == sorted(ids)

        content = answer.body.decode()
        rehearsal = connection.ask("POST", "/api/urls/import", {"content": content}, **key)
        assert rehearsal.json()["data"]["failed"] == COUNT
        deleted = connection.ask("POST", "/api/urls/bulk-delete", {"ids": ids}, **key)
        assert deleted.json()["data"]["succeeded"] == COUNT
        imported = connection.ask("POST", "/api/urls/import", {"content": content, "dryRun": False}, **key)
        assert imported.json()["data"]["succeeded"] == COUNT
