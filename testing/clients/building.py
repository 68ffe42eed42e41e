"""Builds the clients in a copy of the repository, and installs them, by the commands of their READMEs."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from testing.nodejs import node, node_modules
from testing.programs import skip_or_fail
from testing.service.running import REPOSITORY

CLIENTS = REPOSITORY / "clients"
# Of the packages that are built, and what is no part of the repository.
_NOT_COPIED = shutil.ignore_patterns(".*", "var", "generated", "dist", "node_modules", "__pycache__")
# It installs with uv, which takes a tenth of the time of pip.
_PIPX = "pipx@1.18.4"
_BIN = Path(sys.prefix, "bin")


def make(folder: Path) -> Path:
    """The folder ``clients`` of a copy of the repository after `make clients`. Processes with one ``folder`` share it.

    The copy has the virtual environment of this process, so that make need not install one.
    """
    node_modules()
    copy = folder / "repository"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.copytree(REPOSITORY, copy, symlinks=True, ignore=_NOT_COPIED)
            done = subprocess.run(
                ["make", "clients", f"--assume-old={sys.prefix}/.npm", f"VENV={sys.prefix}"],
                cwd=copy,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "done").touch()
    return copy / "clients"


def install(client: str, clients: Path, folder: Path) -> Path:
    """Install the client from ``clients`` in the ``folder``, by the command in the README of the clients."""
    [command] = re.findall(rf"^\| \[{client}\].*\| `(.*)` \|$", (CLIENTS / "README.md").read_text(), re.M)
    if client == "python":
        uv = [_BIN / "uv", "venv", "--quiet", "--seed", "--python", sys.executable, folder]
        subprocess.run(uv, check=True)
    folder.mkdir(exist_ok=True)
    (folder / "clients").symlink_to(clients)
    return run_installation(command, folder)


def run_installation(command: str, folder: Path, **variables: str) -> Path:
    """Run a command of pip, pipx or npm: everything goes into the ``folder``. Returns the folder of programs."""
    programs = folder / "bin"
    environment = {
        **os.environ,
        "PATH": f"{programs}:{_BIN}:{os.environ['PATH']}",
        "HOME": str(folder),
        # What earlier runs have downloaded.
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        "PIPX_HOME": f"{folder}/pipx",
        "PIPX_BIN_DIR": str(programs),
        "PIPX_DEFAULT_BACKEND": "uv",
        # Of npm: nothing but the package.
        **{f"npm_config_{name}": "false" for name in ("audit", "fund", "update_notifier")},
        **variables,
    }
    done = subprocess.run(
        ["/bin/sh", "-ec", re.sub(r"^pipx ", f"uvx --quiet {_PIPX} ", command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        skip_or_fail(f"`{command}` needs PyPI or npm: {done.stdout}{done.stderr}")
    return programs


def samples(client: str, language: str) -> list[str]:
    """The samples in this language in the README of the client."""
    readme = (CLIENTS / client / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.M | re.S)


def compile_typescript(clients: Path, folder: Path, *programs: Path) -> None:
    """Compile strictly, in ``folder``, the ``programs`` that import the client, which is installed there."""
    compiler = node_modules() / "typescript/bin/tsc"
    (folder / "package.json").write_text('{"type": "module"}')
    install("typescript", clients, folder)
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
