"""Generates the clients from a description, into a copy of their folders."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from testing.nodejs import node, node_modules
from testing.service.running import REPOSITORY

CLIENTS = REPOSITORY / "clients"
_NOT_COPIED = shutil.ignore_patterns("generated", "dist", "node_modules", "__pycache__")


def generate(description: str, folder: Path) -> Path:
    """The copy of ``clients``, with what the generator writes."""
    copy = folder / "clients"
    for name in ("python", "typescript", "extension"):
        shutil.copytree(CLIENTS / name, copy / name, symlinks=True, ignore=_NOT_COPIED)
    path = folder / "description.json"
    path.write_text(description)
    done = subprocess.run(
        [sys.executable, "-m", "clients.generate", path, copy],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return copy


def samples(client: str, language: str) -> list[str]:
    """The samples in this language in the README of the client."""
    readme = (CLIENTS / client / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.M | re.S)


def compile_typescript(copy: Path, folder: Path, *programs: Path) -> None:
    """Compile the client with its own configuration, then strictly, in ``folder``, the ``programs`` that import it."""
    compiler = node_modules() / "typescript/bin/tsc"
    built = node(compiler, "--project", copy / "typescript", cwd=copy)
    assert (built.returncode, built.stdout) == (0, "")
    (folder / "node_modules").mkdir()
    (folder / "node_modules/shortener-client").symlink_to(copy / "typescript")
    (folder / "package.json").write_text('{"type": "module"}')
    for program in programs:
        shutil.copy(program, folder)
    compiled = node(
        compiler,
        *("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--skipDefaultLibCheck"),
        *("--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable"),
        *(program.name for program in programs),
        cwd=folder,
    )
    assert (compiled.returncode, compiled.stdout) == (0, "")
