"""Nothing secret is told from a guess by how long that takes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts import keys
from accounts.services import NewAccount

PROJECT = Path(__file__).parents[2]
APPS = ["accounts", "analytics", "common", "domains", "links", "qrcodes", "redirects", "shortener_project"]
SECRETS = re.compile(
    r"password|digest|token|secret|signature|hash|api_?key|cookie|unsign|claimed", re.IGNORECASE
)
# Published in DNS and compared with what is found there.
PUBLIC = {"domains/proof.py"}


def comparisons() -> list[str]:
    found = []
    for path in (path for app in APPS for path in (PROJECT / app).rglob("*.py")):
        where = str(path.relative_to(PROJECT))
        if "migrations" in path.parts or where in PUBLIC:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(
                isinstance(each, ast.Eq | ast.NotEq) for each in node.ops
            ):
                found.append(f"{where}: {ast.unparse(node)}")
    return found


def test_no_secret_is_compared_character_by_character() -> None:
    """ASVS 11.2.4. Tokens, passwords and cookies are compared by functions that take as long for any difference."""
    found = comparisons()
    assert len(found) > 100
    assert [each for each in found if SECRETS.search(each.partition(": ")[2])] == []


def test_a_key_is_looked_for_by_its_digest(alice: NewAccount, api: APIClient) -> None:
    """ASVS 11.2.4. What an index compares is not what was sent: who does not know a key cannot choose its digest."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert api.get("/api/urls/stats").status_code == 200

    asked = "\n".join(query["sql"] for query in queries)
    assert keys.digest(alice.api_key).hex() in asked
    assert alice.api_key not in asked


@pytest.mark.parametrize("key", ["", "x", "sl_live_" + "0" * 38, "sl_live_" + "0" * 100_000])
def test_what_is_no_key_is_not_looked_for(key: str, db: None) -> None:
    client = APIClient(headers={"host": "sho.rt", "x-api-key": key})
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/api/urls/stats").status_code == 401

    assert [query["sql"] for query in queries if "api" in query["sql"] and "key" in query["sql"]] == []
