"""Every sample of docs/tasks.md does its task, and all forms of a task come to the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from testing.agents import headers_of, message
from testing.clients.building import compile_typescript
from testing.nodejs import node
from testing.pictures import read
from testing.polling import eventually
from testing.service.running import REPOSITORY, Service
from tests.clients.conftest import Account

pytestmark = pytest.mark.slow

PAGE = (REPOSITORY / "docs/tasks.md").read_text()
SET_UP, *TASKS = [
    re.findall(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S) for section in PAGE.split("\n## ")
]
FORMS = ["curl", "python", "typescript", "cli", "mcp"]
SHELL, PYTHON, TYPESCRIPT = (sample for _, sample in SET_UP)
CODE = "spring26"
OLD, NEW = "https://example.com/offer", "https://example.com/new"

# Runs the sample of a task, for the link with this id. Returns what it prints.
Run = Callable[[int, str], str]


def sample_of(task: int, form: str) -> str:
    """With a code of its own, because all forms share the default domain."""
    _, sample = TASKS[task][FORMS.index(form)]
    return sample.replace(CODE, CODE + form)


def output_of(*command: str | Path, cwd: Path, **variables: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8", **variables}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def set_up(service: Service, account: Account) -> dict[str, str]:
    """The environment after the first sample, with the address and key of this service."""
    exported = SHELL.replace("http://127.0.0.1:8000", service.url).replace("sl_live_…", account.api_key)
    return dict(re.findall(r"(\w+)=(\S+)", exported))


@pytest.fixture
def curl(set_up: dict[str, str], tmp_path: Path) -> Run:
    return lambda task, link: output_of(
        "/bin/sh", "-ec", sample_of(task, "curl"), cwd=tmp_path, ID=link, **set_up
    )


@pytest.fixture
def cli(program: Path, set_up: dict[str, str], tmp_path: Path) -> Run:
    path = f"{program.parent}:{os.environ['PATH']}"
    return lambda task, _: output_of(
        "/bin/sh", "-ec", sample_of(task, "cli"), cwd=tmp_path, **set_up, PATH=path
    )


@pytest.fixture
def python(clients: Path, set_up: dict[str, str], tmp_path: Path) -> Run:
    source = str(clients / "python/src")

    def run(task: int, link: str) -> str:
        text = f"ID = {link!r}\n{PYTHON}{sample_of(task, 'python')}"
        return output_of(sys.executable, "-c", text, cwd=tmp_path, PYTHONPATH=source, **set_up)

    return run


@pytest.fixture
def typescript_samples(clients: Path, set_up: dict[str, str], tmp_path: Path) -> Run:
    (tmp_path / "source").mkdir()
    names = [tmp_path / f"source/task{task}.ts" for task in range(len(TASKS))]
    for task, name in enumerate(names):
        name.write_text(f"declare const ID: string;\n{TYPESCRIPT}{sample_of(task, 'typescript')}")
    compile_typescript(clients, tmp_path, *names)

    def run(task: int, link: str) -> str:
        script = tmp_path / "with_id.js"
        script.write_text(f"const ID = {json.dumps(link)};\n{(tmp_path / f'task{task}.js').read_text()}")
        done = node(script, cwd=tmp_path, **set_up)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.fixture
def mcp(service: Service, account: Account) -> Run:
    def run(task: int, link: str) -> str:
        params = json.loads(sample_of(task, "mcp").replace('"ID"', json.dumps(link)))
        printed = []
        while True:
            sent = message("tools/call", params)
            answer = service.call(
                "POST", "/mcp", sent, Authorization=f"Bearer {account.api_key}", **headers_of(sent)
            )
            result = answer.json()["result"]
            assert "isError" not in result, result
            printed.append(json.dumps(result["structuredContent"]))
            cursor = result["structuredContent"].get("nextCursor")
            if cursor is None:
                return "\n".join(printed)
            params["arguments"]["cursor"] = cursor

    return run


def test_the_page_has_every_form_of_every_task() -> None:
    languages = ["sh", "python", "ts", "sh", "json"]
    assert [[language for language, _ in task] for task in TASKS] == [languages] * 5
    for curl, *_, cli, _ in TASKS:
        assert "curl " in curl[1]
        assert cli[1].startswith("shorten ")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_does_the_five_tasks(
    form: str, service: Service, account: Account, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run: Run = request.getfixturevalue("typescript_samples" if form == "typescript" else form)
    code = CODE + form

    run(0, "")
    [link] = service.call("GET", "/api/urls", X_API_Key=account.api_key).json()["data"]["urls"]
    assert (link["originalUrl"], link["customCode"], link["tags"]) == (OLD, code, ["sale"])
    assert service.call("GET", f"/{code}").headers["Location"] == OLD

    run(1, link["_id"])
    assert service.call("GET", f"/{code}").headers["Location"] == NEW

    # Two, once the service has counted them.
    def clicks() -> int:
        found = re.search(r'^(?:.*"totalClicks": ?)?(\d+)', run(2, link["_id"]))
        assert found is not None
        return int(found[1])

    eventually(lambda: clicks() == 2)

    # More than one page, and one link without the tag.
    urls = [{"originalUrl": OLD, "tags": ["sale"]}] * 120 + [{"originalUrl": OLD}]
    created = service.call("POST", "/api/urls/bulk", {"urls": urls}, X_API_Key=account.api_key)
    tagged = [link["shortUrl"]] + [
        result["url"]["shortUrl"] for result in created.json()["data"]["results"] if result["url"]["tags"]
    ]
    printed = re.findall(rf"{link['shortUrl'].removesuffix(code)}\w+", run(3, link["_id"]))
    assert len(tagged) == 121
    assert sorted(printed) == sorted(tagged)

    printed_code = run(4, link["_id"])
    if form == "cli":
        picture = (tmp_path / f"{code}.png").read_bytes()
    else:
        address = re.search(r"https?://[^\"\s]+/qr[^\"\s]*", printed_code)
        assert address is not None, printed_code
        picture = service.call("GET", urlsplit(address[0]).path).body
    assert read(picture, "PNG") == [f"{link['shortUrl']}?qr=1"]
