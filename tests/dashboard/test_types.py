"""The types of the front end fit the description of the API: a field that the API loses is an error here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dashboard.files import FRONT
from testing.contract.description import described as described
from testing.nodejs import node, node_modules

pytestmark = pytest.mark.slow


def check_types(
    described: dict[str, Any], folder: Path, only: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Compile a copy of the front end with the types of this description. ``only``: this module and its imports."""
    modules, front = node_modules(), folder / "front"
    shutil.copytree(FRONT, front)
    if only is not None:
        options = json.loads((front / "tsconfig.json").read_text())
        (front / "tsconfig.json").write_text(json.dumps(options | {"include": [only]}))
    (front / "node_modules").symlink_to(modules)
    (front / "types").mkdir()
    (front / "schema.json").write_text(json.dumps(described))
    generated = node(
        modules / "openapi-typescript/bin/cli.js", "schema.json", "--output", "types/api.d.ts", cwd=front
    )
    assert generated.returncode == 0, generated.stderr
    # TypeScript's own declarations are none of our code.
    return node(
        modules / "typescript/bin/tsc", "--project", "tsconfig.json", "--skipDefaultLibCheck", cwd=front
    )


def test_the_front_end_has_no_type_error(described: dict[str, Any], tmp_path: Path) -> None:
    checked = check_types(described, tmp_path)
    assert (checked.stdout, checked.returncode) == ("", 0)


def test_a_field_that_the_api_loses_is_an_error(described: dict[str, Any], tmp_path: Path) -> None:
    listed = described["components"]["schemas"]["ListedUrl"]
    del listed["properties"]["clickCount"]
    listed["required"].remove("clickCount")
    checked = check_types(described, tmp_path, only="pages/links/table.js")
    assert checked.returncode != 0
    assert "clickCount" in checked.stdout
