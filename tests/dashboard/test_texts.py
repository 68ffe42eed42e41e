"""The texts of every language are complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from analytics.dimensions import NOT_COUNTED
from analytics.representations import REFUSALS
from common.countries import COUNTRY_NAMES
from dashboard import files
from dashboard.files import FRONT
from domains.verification import Problem
from redirects.checks import ORDER
from testing.nodejs import node

API_LANGUAGE = "en"
PAGE = Path(__file__).parent / "front/page.mjs"


@cache
def module(name: str) -> dict[str, Any]:
    """What a module of the front end exports, as JSON has it."""
    source = f"import({json.dumps((FRONT / name).as_uri())}).then(all => console.log(JSON.stringify(all)))"
    ran = node("--import", PAGE, "--eval", source, cwd=FRONT)
    assert ran.returncode == 0, ran.stderr
    exported: dict[str, Any] = json.loads(ran.stdout)
    return exported


def test_every_text_of_a_page_is_in_the_file_of_texts() -> None:
    known = module("texts/en.js")["texts"].keys()
    used = {
        key
        for name, path in files.names().items()
        if name.endswith(".js") and not name.startswith("texts/")
        for key in re.findall(r'\bt\(\s*"([\w.]+)"', path.read_text())
    }
    assert len(used) > 50
    assert used - known == set()


CALLS = (
    re.compile(r'\b(?:call|callForBody|download)\("([A-Z]+)", ["`](/[^"`]+)["`]'),
    re.compile(r"\b(readWithVersion)\(`(/[^`]+)`"),
)
# The refusals of fields that only other front ends send.
UNUSED_FIELDS = {"currentPassword", "newPassword"}


def called_operations(description: dict[str, Any]) -> list[dict[str, Any]]:
    """The operations of the API that the front end calls."""
    templates = {re.sub(r"\{\w+\}", "{}", path): path for path in description["paths"]}
    calls = {
        ("GET" if method == "readWithVersion" else method, re.sub(r"\$\{[^}]+\}", "{}", path))
        for name, file in files.names().items()
        if name.endswith(".js")
        for pattern in CALLS
        for method, path in pattern.findall(file.read_text())
    }
    assert len(calls) > 40
    return [description["paths"][templates[f"/api{path}"]][method.lower()] for method, path in calls]


def refusal_codes(operations: Iterable[dict[str, Any]]) -> set[str]:
    bodies = [
        example["value"]
        for operation in operations
        for status, response in operation["responses"].items()
        if status >= "400"
        for content in response.get("content", {}).values()
        for example in content["examples"].values()
    ]
    of_fields = {
        error["code"]
        for body in bodies
        for error in body.get("errors", [])
        if error["field"] not in UNUSED_FIELDS
    }
    return {body["code"] for body in bodies} | of_fields


@pytest.mark.parametrize("language", [name for name in files.languages() if name != API_LANGUAGE])
def test_every_refusal_of_the_api_has_a_text(language: str, anonymous: APIClient) -> None:
    """The API's own messages are in English."""
    known = module(f"texts/{language}.js")["refusals"].keys()
    codes = refusal_codes(called_operations(anonymous.get("/api/schema").json()))
    assert {"code_taken", "unsupported_scheme", "role_required"} <= codes
    assert (codes | {problem.value for problem in Problem}) - known == set()


@pytest.mark.parametrize("language", [name for name in files.languages() if name != API_LANGUAGE])
def test_every_step_of_a_simulated_visit_has_a_text(language: str) -> None:
    """A step that passed has the text of its check. A check that can refuse has one for its refusals, too."""
    never_refuse = {"rule", "split", "target", "answer"}
    refusals = {f"{check}.refused" for check in ORDER if check not in never_refuse}
    special = {"active.legal", "claim.visitor_limit_reached"}
    special |= {"rule.applies", "split.applies", "answer.applies"}
    assert module(f"texts/{language}.js")["steps"].keys() == {*ORDER} | refusals | special


def test_the_dashboard_knows_the_countries_of_the_api() -> None:
    assert module("core/countries.js")["countries"] == sorted(COUNTRY_NAMES)


def test_every_reason_of_the_ledger_has_a_text() -> None:
    keys = module("texts/en.js")["texts"]
    reasons = {key.removeprefix("report.reason.") for key in keys if key.startswith("report.reason.")}
    assert reasons == {*REFUSALS, *NOT_COUNTED}
