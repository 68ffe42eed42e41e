"""The samples of operations run as they stand, in a shell, in Python and in node, each by a reader with objects of its
own, and each gets the first documented success. Only the address of the service and the variables are the test's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from testing.contract.description import described as described
from testing.contract.reader import Reader
from testing.domains.dns_server import DnsServer
from testing.domains.resolution import dns as dns
from testing.pages.browser import address as address
from testing.programs import program

# Run the file argv[1 + n] with the variables argv[2 + n], one after the other in the same process. On stderr, a line
# for each: the file with the status of the response, or with the error.
PYTHON = """
import json, os, sys, urllib.request
environment, send = dict(os.environ), urllib.request.urlopen
def urlopen(request):
    response = send(request)
    print(file, response.status, file=sys.stderr)
    return response
urllib.request.urlopen = urlopen
for file, variables in zip(sys.argv[1::2], sys.argv[2::2]):
    os.environ.clear()
    os.environ.update(environment | json.loads(variables))
    try:
        exec(compile(open(file).read(), file, "exec"), {})
    except Exception as error:
        print(file, error, getattr(error, "read", bytes)(), file=sys.stderr)
"""
NODE = """
const environment = { ...process.env }, send = fetch;
for (let at = 2; at < process.argv.length; at += 2) {
    const file = process.argv[at];
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment, JSON.parse(process.argv[at + 1]));
    globalThis.fetch = async (...request) => {
        const response = await send(...request);
        console.error(file, response.status);
        return response;
    };
    try { await import(file); } catch (error) { console.error(file, error); }
}
"""
# curl reads it in the home directory.
CURLRC = """
no-progress-meter
write-out = "%{stderr}%{http_code}"
"""


class Sample(NamedTuple):
    operation: str
    source: str
    variables: dict[str, str]
    status: str


def samples(described: dict[str, Any], label: str, service: str, dns: DnsServer) -> list[Sample]:
    """A sample of each operation, each for a reader of its own."""
    found = []
    for path, methods in described["paths"].items():
        for operation in methods.values():
            (source,) = (each["source"] for each in operation["x-codeSamples"] if each["label"] == label)
            assert source.count("http://sho.rt/") == 1
            reader = Reader(dns)
            found.append(
                Sample(
                    operation["operationId"],
                    source.replace("http://sho.rt/", f"{service}/"),
                    {name: reader.value(path, name) for name in operation["x-sampleVariables"]},
                    next(status for status in operation["responses"] if status.startswith("2")),
                )
            )
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "suffix", "command"),
    [
        ("curl", "sh", None),
        ("Python", "py", [sys.executable, "-c", PYTHON]),
        ("JavaScript", "mjs", ["node", "all.mjs"]),
    ],
)
def test_the_samples_run_as_they_stand(
    label: str,
    suffix: str,
    command: list[str] | None,
    address: str,
    dns: DnsServer,
    described: dict[str, Any],
    tmp_path: Path,
) -> None:
    program("node" if suffix == "mjs" else "curl")
    (tmp_path / "all.mjs").write_text(NODE)
    (tmp_path / ".curlrc").write_text(CURLRC)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, check=False, cwd=tmp_path, env=environment | variables, capture_output=True, text=True
        )

    written = samples(described, label, address, dns)
    files = [f"./{sample.operation}.{suffix}" for sample in written]
    arguments = []
    for file, sample in zip(files, written, strict=True):
        (tmp_path / file).write_text(sample.source)
        arguments += [file, orjson.dumps(sample.variables).decode()]
    if command is not None:
        lines = run(*command, *arguments).stderr.splitlines()
    else:
        each = [
            run("sh", "-e", file, **sample.variables) for file, sample in zip(files, written, strict=True)
        ]
        lines = [
            f"{file} {ran.stderr if ran.returncode == 0 else ran}"
            for file, ran in zip(files, each, strict=True)
        ]

    assert lines == [f"{file} {sample.status}" for file, sample in zip(files, written, strict=True)]


def test_every_operation_has_a_sample_in_each_language_that_names_its_variables(
    described: dict[str, Any],
) -> None:
    for methods in described["paths"].values():
        for operation in methods.values():
            labels = [each["label"] for each in operation["x-codeSamples"]]
            assert labels == ["curl", "Python", "JavaScript"]
            compile(operation["x-codeSamples"][1]["source"], operation["operationId"], "exec")
            for sample in operation["x-codeSamples"]:
                assert "@@" not in sample["source"]
                assert all(name in sample["source"] for name in operation["x-sampleVariables"])


def test_a_sample_takes_from_the_environment_what_only_the_reader_knows(described: dict[str, Any]) -> None:
    operation = described["paths"]["/api/urls/move"]["post"]
    assert operation["x-sampleVariables"] == {
        "API_KEY": "your API key",
        "ID": "the `_id` of each URL",
        "WORKSPACE_ID": "the `_id` of the other workspace",
    }
    curl, python, javascript = (each["source"] for each in operation["x-codeSamples"])
    assert """    "ids": [\n        "'"$ID"'"\n    ],""" in curl
    assert """body = {'ids': [os.environ["ID"]], 'workspaceId': os.environ["WORKSPACE_ID"]}""" in python
    assert '"workspaceId": process.env.WORKSPACE_ID' in javascript
