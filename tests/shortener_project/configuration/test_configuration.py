"""The table of environment variables generates the page and lists every variable that the code reads."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.checks import run_checks

from shortener_project.configuration import env
from shortener_project.configuration.page import PAGE, render
from shortener_project.configuration.variables import GROUPS

PROJECT = Path(__file__).resolve().parents[3]
PACKAGES = (
    "accounts",
    "analytics",
    "common",
    "domains",
    "limits",
    "links",
    "qrcodes",
    "redirects",
    "shortener_project",
    "sign_in",
)
VARIABLES = [variable for group in GROUPS for variable in group.variables]
NAMES = {variable.name for variable in VARIABLES}
# Set by the service for its own processes, or by the system for every process.
INTERNAL = {"CC", "DJANGO_SETTINGS_MODULE", "PATH", "SERVE_BIND"}
PARSERS = {
    name
    for name, function in vars(env).items()
    if inspect.isfunction(function)
    and not name.startswith("_")
    and "name" in inspect.signature(function).parameters
}


def sources() -> list[Path]:
    files = [PROJECT / "manage.py", *(file for name in PACKAGES for file in (PROJECT / name).rglob("*.py"))]
    return [file for file in files if file != Path(env.__file__)]


def names_read(tree: ast.Module) -> Iterator[str]:
    """Names in ``os.environ[...]``, ``os.environ.get(...)`` and so on, constants of the module included."""
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        keys: list[ast.expr] = []
        match node:
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=key):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="environ")), args=[key, *_]):
                keys = [key]
            case ast.Call(func=ast.Attribute(attr="getenv"), args=[key, *_]):
                keys = [key]
            case ast.Compare(left=key, comparators=[ast.Attribute(attr="environ")]):
                keys = [key]
        for key in keys:
            yield str(constants[key.id] if isinstance(key, ast.Name) else key.value)


def test_the_page_is_the_generated_one() -> None:
    assert PAGE.read_text() == render(), "Run `make docs`."


def test_every_variable_is_declared_once_and_described() -> None:
    assert len(VARIABLES) == len(NAMES)
    assert [
        variable.name
        for variable in VARIABLES
        if not variable.meaning.endswith(".") or "|" in variable.meaning
    ] == []


def test_every_variable_that_the_code_reads_is_in_the_table() -> None:
    read = {name for file in sources() for name in names_read(ast.parse(file.read_text()))}
    assert {"PROMETHEUS_MULTIPROC_DIR", "STATEMENT_TIMEOUT_MS", "SERVE_BIND"} <= read
    assert read - NAMES - INTERNAL == set()


def test_only_the_table_calls_the_parsers() -> None:
    called = {
        (str(file.relative_to(PROJECT)), node.func.attr)
        for file in sources()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "env"
        and node.func.attr in PARSERS
    }
    assert {file for file, _ in called} == {"shortener_project/configuration/declaration.py"}
    assert {reader for _, reader in called} == PARSERS


def test_every_variable_of_the_table_is_a_setting() -> None:
    assert [name for name in sorted(NAMES) if not hasattr(django_settings, name)] == []


def test_the_defaults_on_the_page_are_those_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for variable in VARIABLES:
        value = variable.read()
        if isinstance(value, int) and variable.default.isdigit():
            assert value == int(variable.default), variable.name
    named = ("HOST", "PORT", "BASE_URL", "CLICK_SYNC")
    assert {declared.name: str(declared.read()) for declared in VARIABLES if declared.name in named} == {
        "HOST": "127.0.0.1",
        "PORT": "8000",
        "BASE_URL": "http://localhost:8000",
        "CLICK_SYNC": "group",
    }  # fmt: skip


# System checks


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({}, ["configuration.W002"]),
        ({"SESSION_COOKIE_SECURE": True}, ["configuration.W003"]),
        ({"SESSION_COOKIE_SECURE": True, "TRUSTED_PROXIES": ["10.0.0.0/8"]}, []),
        ({"GEOIP_DATABASE": [Path("/nowhere.mmdb")]}, ["configuration.W001", "configuration.W002"]),
    ],
)
def test_checks_report_risky_combinations(
    changes: dict[str, object], ids: list[str], settings: object
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    warnings = run_checks(include_deployment_checks=True)
    assert (
        sorted(str(warning.id) for warning in warnings if str(warning.id).startswith("configuration.")) == ids
    )
