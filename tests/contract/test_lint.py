"""The description as Redocly's recommended rules have it, warnings included."""

import json
from pathlib import Path

from rest_framework.test import APIClient

from tests.nodejs import node, node_modules


def test_it_lints_clean(anonymous: APIClient, tmp_path: Path) -> None:
    modules = node_modules()
    (tmp_path / "schema.json").write_bytes(anonymous.get("/api/schema").content)

    linted = node(
        modules / "@redocly/cli/bin/cli.js",
        *("lint", "schema.json", "--extends", "recommended", "--format", "json", "--max-problems", "1000"),
        cwd=tmp_path,
    )

    found = json.loads(linted.stdout)
    assert [f"{each['ruleId']}: {each['message']}" for each in found["problems"]] == []
    assert (linted.returncode, found["totals"]) == (0, {"errors": 0, "warnings": 0, "ignored": 0})
