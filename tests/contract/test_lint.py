"""The description follows the recommended rules of Redocly and Spectral without warnings."""

import json
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from testing.nodejs import node, node_modules

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(anonymous: APIClient, tmp_path: Path) -> Path:
    (tmp_path / "schema.json").write_bytes(anonymous.get("/api/schema").content)
    return tmp_path


def test_redocly_reports_no_warning(folder: Path) -> None:
    linted = node(
        node_modules() / "@redocly/cli/bin/cli.js",
        *("lint", "schema.json", "--extends", "recommended", "--format", "json", "--max-problems", "1000"),
        # `/api/analytics/shares/{id}` and `…/{urlId}/clicks` differ for every id that exists.
        *("--skip-rule", "no-ambiguous-paths"),
        cwd=folder,
    )

    report = json.loads(linted.stdout)
    assert [f"{problem['ruleId']}: {problem['message']}" for problem in report["problems"]] == []
    assert (linted.returncode, report["totals"]) == (0, {"errors": 0, "warnings": 0, "ignored": 0})


def test_spectral_reports_no_warning(folder: Path) -> None:
    (folder / "ruleset.yaml").write_text('extends: ["spectral:oas"]\n')

    linted = node(
        node_modules() / "@stoplight/spectral-cli/dist/index.js",
        *(
            "lint",
            "schema.json",
            "--ruleset",
            "ruleset.yaml",
            "--format",
            "json",
            "--fail-severity",
            "hint",
            "--quiet",
        ),
        cwd=folder,
    )

    assert linted.stderr == ""
    problems = json.loads(linted.stdout)
    assert [f"{problem['code']}: {problem['message']} {problem['path']}" for problem in problems] == []
    assert linted.returncode == 0
