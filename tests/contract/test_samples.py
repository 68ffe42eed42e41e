"""The samples of operations run as they stand, in a shell, in Python and in node: every one that reads, creates or
changes an object, but none that deletes. Only the address of the service and the variables are the test's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.representations import EXAMPLE_JWK
from testing.accounts.accounts import PASSWORD
from testing.accounts.workspaces import team
from testing.contract.description import described as described
from testing.pages.browser import address as address
from testing.programs import program

# They need what no example has: a message that was sent, another member, another key.
NOT_RUN = {"resendDelivery", "updateMember", "updateKey"}
# Run the file argv[1 + n] with the variables argv[2 + n], one after the other in the same process, and print the names
# of those that fail with the reason.
PYTHON = """
import json, os, sys, traceback
environment = dict(os.environ)
for file, variables in zip(sys.argv[1::2], sys.argv[2::2]):
    os.environ.clear()
    os.environ.update(environment | json.loads(variables))
    try:
        exec(compile(open(file).read(), file, "exec"), {})
    except Exception as error:
        print(file, error, getattr(error, "read", bytes)(), file=sys.stderr)
"""
NODE = """
const environment = { ...process.env };
for (let at = 2; at < process.argv.length; at += 2) {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment, JSON.parse(process.argv[at + 1]));
    try { await import(process.argv[at]); } catch (error) { console.error(process.argv[at], error); }
}
"""


class Sample(NamedTuple):
    operation: str
    source: str
    variables: dict[str, str]


Values = Callable[[str, str], str]


@pytest.fixture
def value(alice: NewAccount, api: APIClient, anonymous: APIClient, make_link: Callable[..., Any]) -> Values:
    """What a reader would set a variable to, by the path of the operation and the variable's name."""
    login = anonymous.post("/api/auth/login", {"email": alice.user.email, "password": PASSWORD}).json()
    link = make_link(tags=["sale", "old"])
    identifier = link["_id"]
    change = api.delete("/api/tags/old").json()["data"]["change"]["_id"]
    issuer = anonymous.post(
        "/api/token-issuers",
        {
            "name": "Mine",
            "issuer": "https://issuer.test-reader.com",
            "audience": "https://sho.rt",
            "subject": "job:of:*",
            "jwks": {"keys": [EXAMPLE_JWK]},
            "scopes": ["urls:read"],
        },
        HTTP_AUTHORIZATION=f"Bearer {login['token']}",
    ).json()["data"]["issuer"]
    webhook = {"name": "Shop", "types": ["link.created"], "url": "https://example.com/"}
    created = {
        "/api/domains": ({"domain": "links.test-reader.com"}, "domain"),
        "/api/utm-templates": ({"name": "Mine"}, "template"),
        "/api/views": ({"name": "Mine", "filters": {}}, "view"),
        "/api/qr-designs": ({"name": "Mine"}, "design"),
        "/api/qr-codes": ({"urlId": identifier}, "qrCode"),
        "/api/analytics/shares": ({"urlId": identifier}, "share"),
        "/api/webhooks": (webhook, "webhook"),
    }
    ids = {
        path: api.post(path, body).json()["data"][name]["_id"] for path, (body, name) in created.items()
    } | {
        "/api/token-issuers": issuer["_id"],
        "/api/tag-changes": change,
        "/api/workspaces": str(team(alice).public_id),
    }
    values = {
        "API_KEY": alice.api_key,
        "ACCESS_TOKEN": login["token"],
        "EMAIL": alice.user.email,
        "PASSWORD": PASSWORD,
        "NAME": "sale",
        "CODE": "spring",
        "SHORT_URL": link["shortUrl"],
    }

    def find(path: str, variable: str) -> str:
        if variable == "ID":
            return next((value for prefix, value in ids.items() if path.startswith(prefix)), identifier)
        return values.get(variable, identifier)

    return find


def samples(described: dict[str, Any], label: str, value: Values, service: str) -> Iterator[Sample]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            creates = method == "post" and "201" in operation["responses"]
            if (method in ("get", "put", "patch") or creates) and operation["operationId"] not in NOT_RUN:
                (source,) = (each["source"] for each in operation["x-codeSamples"] if each["label"] == label)
                variables = {name: value(path, name) for name in operation["x-sampleVariables"]}
                assert all(name in source for name in variables)
                assert source.count("http://sho.rt/") == 1
                yield Sample(
                    operation["operationId"], source.replace("http://sho.rt/", f"{service}/"), variables
                )


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
    settings: Settings,
    described: dict[str, Any],
    value: Values,
    tmp_path: Path,
) -> None:
    program("node" if suffix == "mjs" else "curl")
    (tmp_path / "all.mjs").write_text(NODE)
    written = list(samples(described, label, value, address))
    assert len(written) >= 60
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    arguments = []
    for sample in written:
        (tmp_path / f"{sample.operation}.{suffix}").write_text(sample.source)
        arguments += [f"./{sample.operation}.{suffix}", orjson.dumps(sample.variables).decode()]
    if command is not None:
        ran = subprocess.run(
            [*command, *arguments], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert (ran.stderr, ran.returncode) == ("", 0)
        return
    for sample in written:
        ran = subprocess.run(
            ["sh", "-e", f"./{sample.operation}.sh"],
            check=False,
            cwd=tmp_path,
            env=environment | sample.variables,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, (sample.operation, ran.stdout, ran.stderr)


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
