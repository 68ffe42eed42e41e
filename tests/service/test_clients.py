"""Clients generated from the OpenAPI description, compiled and run against the service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testing.nodejs import node, node_modules
from testing.service.running import REPOSITORY, Service
from testing.visitors.agents import FIREFOX
from tests.service.conftest import Installation

pytestmark = pytest.mark.slow

CLIENTS = Path(__file__).parent / "clients"
BIN = Path(sys.prefix, "bin")
# mypy checks the libraries of the client in the first run only.
CACHE = REPOSITORY / ".mypy_cache/clients"


@pytest.fixture
def arguments(service: Service, installation: Installation) -> list[str]:
    owner = installation.owner
    return [service.url, owner.api_key, owner.email, owner.password, FIREFOX]


@pytest.fixture
def schema(service: Service, tmp_path: Path) -> Path:
    path = tmp_path / "schema.json"
    path.write_bytes(service.call("GET", "/api/schema").body)
    return path


def expected(location: str) -> dict[str, Any]:
    return {
        "domain": "base",
        "status": 302,
        "location": location,
        "clicks": 1,
        "refusal": [["originalUrl", "invalid_url"]],
    }


def test_a_typescript_client_creates_follows_and_reports_a_link(
    schema: Path, arguments: list[str], tmp_path: Path
) -> None:
    modules = node_modules()
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(CLIENTS / "use.ts", tmp_path)

    generated = node(modules / "openapi-typescript/bin/cli.js", schema, "--output", "api.ts", cwd=tmp_path)
    assert generated.returncode == 0, generated.stderr
    # The types of the language and of browsers are not ours.
    options = (
        *("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"),
        "--skipDefaultLibCheck",
    )
    compiled = node(
        modules / "typescript/bin/tsc",
        *(*options, "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "use.ts"),
        cwd=tmp_path,
    )
    assert (compiled.returncode, compiled.stdout) == (0, "")
    used = node(tmp_path / "use.js", *arguments, cwd=tmp_path)

    assert used.returncode == 0, used.stderr
    assert json.loads(used.stdout) == expected("https://example.com/typescript")


def test_a_python_client_creates_follows_and_reports_a_link(
    schema: Path, arguments: list[str], tmp_path: Path
) -> None:
    shutil.copy(CLIENTS / "use.py", tmp_path)

    def run(program: str, *words: str | Path) -> str:
        # The generator formats its output with the ruff of this PATH.
        done = subprocess.run(
            [BIN / program, *words],
            cwd=tmp_path,
            env={"PATH": str(BIN), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    # Files are bytes. The generator knows only one content type of those by itself.
    options = (
        *("--output-path", "generated", "--meta", "none", "--fail-on-warning"),
        *("--config", CLIENTS / "python.json"),
    )
    run("openapi-python-client", "generate", "--path", schema, *options)
    modules = {path.stem for path in (tmp_path / "generated/models").glob("*.py")}
    assert modules >= {"redirect_type", "device_type", "unchecked_object"}
    assert [name for name in modules if re.search(r"type_?\d", name)] == []
    run("python", "-W", "error", "-m", "compileall", "-q", "generated")
    # Strict rules for the modules that come from our description; those of every generated client break them.
    run(
        "mypy",
        "--strict",
        # The generator casts each item of a list that may be anything.
        "--disable-error-code=redundant-cast",
        "--follow-imports",
        "silent",
        "--cache-dir",
        CACHE,
        "generated/api",
        "generated/models",
        "use.py",
    )
    used = run("python", "use.py", *arguments)

    assert json.loads(used) == expected("https://example.com/python")
