"""The build of the compiled event loop."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from fastlane.compiled import build
from fastlane.compiled.build import compiler_command


@pytest.mark.parametrize(
    ("chosen", "of_python", "installed", "command"),
    [
        ("clang -pipe", "gcc -pthread", True, ["clang", "-pipe"]),
        ("", "gcc -pthread", True, ["gcc", "-pthread"]),
        ("", "gcc -pthread", False, ["cc"]),
        ("", "", True, ["cc"]),
    ],
)
def test_the_build_uses_the_chosen_compiler_else_that_of_python_if_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, chosen: str, of_python: str, installed: bool, command: list[str]
) -> None:
    monkeypatch.setenv("CC", chosen)
    variables = {"CC": of_python, "CFLAGS": "-O3 -Wall", "CCSHARED": "-fPIC"}
    monkeypatch.setattr(sysconfig, "get_config_var", variables.get)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: "/include")
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/compiler" if installed else None)

    assert compiler_command()[: len(command) + 3] == [*command, "-O3", "-Wall", "-fPIC"]


def test_the_digest_covers_the_names_and_the_contents_of_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python replaces files in `__pycache__` while other tests run.
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(build.SOURCE.parent, tmp_path, dirs_exist_ok=True, ignore=ignored)
    installed = build.source_version()
    monkeypatch.setattr(build, "SOURCE", tmp_path / build.SOURCE.name)
    assert build.source_version() == installed

    for path in [*tmp_path.glob("*.pyx"), *tmp_path.glob("*.pxi")]:
        content = path.read_bytes()
        path.write_bytes(content + b"# changed\n")
        assert build.source_version() != installed
        path.write_bytes(content)
        renamed = path.rename(path.with_stem(f"z{path.stem}"))
        assert build.source_version() != installed
        renamed.rename(path)
    assert build.source_version() == installed
