"""The modules of the front end: their linter, their unit tests, and the list of what each page loads first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dashboard import editor_fields
from dashboard.files import FRONT
from dashboard.urls import PAGES
from testing.nodejs import node, node_modules

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent / "front"


def test_the_linter_has_no_complaint(tmp_path: Path) -> None:
    shutil.copytree(FRONT, tmp_path / "front")
    shutil.copytree(TESTS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "node_modules").symlink_to(node_modules())
    linted = node(node_modules() / "eslint/bin/eslint.js", "front", cwd=tmp_path)
    assert (linted.stdout, linted.stderr, linted.returncode) == ("", "", 0)


def test_the_linter_complains_about_missing_names_and_texts_like_comments(tmp_path: Path) -> None:
    shutil.copytree(TESTS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "node_modules").symlink_to(node_modules())
    (tmp_path / "wrong.js").write_text("missing(`\n  /** text */${\n/** @type {1} */ (1)}`);\n")
    linted = node(node_modules() / "eslint/bin/eslint.js", "wrong.js", cwd=tmp_path)
    assert "'missing' is not defined" in linted.stdout
    assert linted.stdout.count("strip this text as a comment of types") == 1
    assert linted.returncode == 1


def test_the_unit_tests_pass() -> None:
    files = sorted(TESTS.glob("*.test.mjs"))
    assert len(files) > 3
    ran = node("--import", TESTS / "page.mjs", "--test", "--test-reporter=tap", *files, cwd=TESTS)
    assert ran.returncode == 0, ran.stdout
    assert "\n# fail 0\n" in ran.stdout


def test_the_first_views_are_those_of_the_modules() -> None:
    """After a change of an import, `make front` writes the list again."""
    written = node(FRONT.parent / "first_views.mjs", FRONT, node_modules(), cwd=FRONT)
    assert written.returncode == 0, written.stderr
    assert written.stdout == (FRONT / "first_views.json").read_text()
    assert json.loads(written.stdout).keys() == {f"pages/{module}" for module in PAGES.values()}


def test_the_fields_of_the_editor_are_those_of_the_table() -> None:
    """After a change of `links.fields`, `make front` writes the module again."""
    assert editor_fields.MODULE.read_text() == editor_fields.module()
