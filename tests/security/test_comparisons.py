"""The time of a comparison reveals nothing about a secret."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.services import NewAccount

PROJECT = Path(__file__).parents[2]
APPS = [
    *("accounts", "analytics", "common", "dashboard", "domains", "limits", "links", "qrcodes", "redirects"),
    *("shortener_project", "sign_in"),
]
SECRETS = re.compile(
    r"password|digest|token|secret|signature|hash|api_?key|cookie|unsign|claimed", re.IGNORECASE
)
# The kinds of a token of Markdown and the name of a placeholder, which are no secrets; and values that the client
# knows:
# the subject of an identity token, accounts, and a password that somebody chooses, which
# is typed twice or on a command line.
PUBLIC = [
    "accounts/management/commands/create_account.py: password == '-'",
    "analytics/counting/day_visitors.py: len(hashes) == 1",
    "analytics/counting/day_visitors.py: len(hashes) == 1",
    "common/openapi/samples.py: name == 'token'",
    "links/errors.py: change.via == AuthMethod.API_KEY",
    "shortener_project/web/markdown.py: token.type == 'code_inline'",
    "shortener_project/web/markdown.py: token.type == 'inline'",
    "shortener_project/web/markdown.py: token.type == 'link_close'",
    "shortener_project/web/markdown.py: token.type == 'link_open'",
    "shortener_project/web/markdown.py: tokens[at - 1].type == 'heading_open'",
    "sign_in/adapters.py: self.authenticate(self.request, email=user.email, password=password) == user",
    "sign_in/openid_connect/protocol.py: answer.body.get('sub') != token['sub']",
    "sign_in/sign_up.py: self.cleaned_data.get('password') != self.cleaned_data.get('repeated')",
]


def comparisons() -> list[str]:
    comparisons_found = []
    for path in (path for app in APPS for path in (PROJECT / app).rglob("*.py")):
        where = str(path.relative_to(PROJECT))
        if "migrations" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(
                isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops
            ):
                comparisons_found.append(f"{where}: {ast.unparse(node)}")
    return comparisons_found


def test_no_secret_is_compared_character_by_character() -> None:
    """ASVS 11.2.4. Tokens, passwords and cookies are compared by functions that take as long for any difference."""
    comparisons_found = comparisons()
    assert len(comparisons_found) > 100
    assert sorted(line for line in comparisons_found if SECRETS.search(line.partition(": ")[2])) == PUBLIC


def test_a_key_is_looked_up_by_its_digest(alice: NewAccount, api: APIClient) -> None:
    """ASVS 11.2.4. The index compares digests, and without the key nobody can choose its digest."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert api.get("/api/urls/stats").status_code == 200

    statements = "\n".join(query["sql"] for query in queries)
    assert api_keys.digest(alice.api_key).hex() in statements
    assert alice.api_key not in statements


@pytest.mark.parametrize("key", ["", "x", "sl_live_" + "0" * 38, "sl_live_" + "0" * 100_000])
def test_a_malformed_key_is_not_looked_up(key: str, db: None) -> None:
    client = APIClient(headers={"host": "sho.rt", "x-api-key": key})
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/api/urls/stats").status_code == 401

    assert [query["sql"] for query in queries if "api" in query["sql"] and "key" in query["sql"]] == []
