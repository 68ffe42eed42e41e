"""The clients are installed as the READMEs say, and their samples are strictly typed and work as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testing.clients.building import install, samples
from testing.clients.command_line import Shorten
from testing.nodejs import node
from testing.service.running import REPOSITORY, Service
from tests.clients.conftest import Account

pytestmark = pytest.mark.slow

# mypy checks httpx in the first run only.
CACHE = REPOSITORY / ".mypy_cache/sdk"
EXPECTED = r"(http://localhost:\d+/\w+)\n\1 0\n\[.*'originalUrl', 'invalid_url'.*\] [0-9a-f-]{36}\n"


def environment(service: Service, account: Account) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "SHORTENER_URL": service.url,
        "SHORTENER_API_KEY": account.api_key,
    }


def test_samples_in_python(clients: Path, service: Service, account: Account, tmp_path: Path) -> None:
    names = ["first.py", "second.py"]
    for name, sample in zip(names, samples("python", "python"), strict=True):
        (tmp_path / name).write_text(sample)
    python = install("python", clients, tmp_path / "environment") / "python"
    source = clients / "python/src/shortener_client"
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", CACHE]
    checked = subprocess.run(
        [*mypy, source, *names],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr

    printed = []
    for name in names:
        done = subprocess.run(
            [python, "-W", "error", name],
            cwd=tmp_path,
            env=environment(service, account),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout)

    assert re.fullmatch(EXPECTED, printed[0], re.S)
    assert printed[1] == "sale\n"
    [header, row] = (tmp_path / "links.csv").read_text().splitlines()
    assert "originalUrl" in header.split(",")
    assert "https://example.com/spring" in row.split(",")


def test_samples_in_typescript(typescript: Path, service: Service, account: Account) -> None:
    done = node(typescript / "sample.js", cwd=typescript, **environment(service, account))

    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(EXPECTED + r"3\n", done.stdout, re.S)


def test_the_file_of_links_is_one(program: Path, tmp_path: Path) -> None:
    [links] = samples("cli", "yaml")
    # Nobody answers there, so that it gets as far as the first link.
    (tmp_path / "links.yaml").write_text(links)
    shorten = Shorten(program, tmp_path)
    shorten.environment |= {"SHORTENER_URL": "http://127.0.0.1:9", "SHORTENER_API_KEY": "sl_live_x"}
    assert shorten("apply", "links.yaml", "--yes").code == 6
