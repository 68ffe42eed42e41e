"""The libraries in the dashboard are the ones that the lock file of npm lists, unchanged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.vendoring import LIBRARIES, MANIFEST, VENDOR, vendored
from testing.nodejs import node_modules

LOCK = Path(__file__).parents[1] / "contract/npm/package-lock.json"
FREE = {"Apache-2.0", "ISC", "MIT"}


def entries() -> list[dict[str, Any]]:
    return json.loads(MANIFEST.read_text())


def test_every_file_has_an_entry() -> None:
    listed = {entry["file"] for entry in entries()}
    assert listed == {library.target for library in LIBRARIES}
    assert listed == {path.name for path in VENDOR.iterdir() if path.suffix in {".mjs", ".css"}}


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_a_file_is_unchanged_and_has_its_licence(entry: dict[str, Any]) -> None:
    assert hashlib.sha256((VENDOR / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
    assert entry["licence"] in FREE
    assert (VENDOR / entry["licenceFile"]).stat().st_size > 500


def test_the_versions_are_those_of_the_lock_file() -> None:
    locked = json.loads(LOCK.read_text())["packages"]
    for entry in entries():
        package = locked[f"node_modules/{entry['package']}"]
        assert package["version"] == entry["version"], entry["package"]
        assert package["integrity"].startswith("sha512-")


def test_the_command_writes_the_same_files_again() -> None:
    assert vendored(node_modules()) == {
        path.relative_to(VENDOR).as_posix(): path.read_bytes()
        for path in VENDOR.rglob("*")
        if path.is_file() and not path.name.endswith(".d.mts")
    }
