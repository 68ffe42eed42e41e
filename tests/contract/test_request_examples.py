"""Every request of the description works as it stands: the reader of /api/docs only adds a credential."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from rest_framework.test import APIClient

from accounts.token_issuers import services
from common.openapi.samples import variable_of
from testing.contract.description import described as described
from testing.contract.reader import Reader

# Values that only the reader knows, by the name of the field or path parameter.
Placeholders = dict[str, Any]


class Example(NamedTuple):
    operation: str
    method: str
    path: str
    security: list[dict[str, list[str]]]
    body: Any
    description: str

    @property
    def placeholders(self) -> list[str]:
        """The fields for which the description says what to replace them with."""
        return re.findall(r"Replace `(\w+)`", self.description)


def request_examples(described: dict[str, Any]) -> Iterator[Example]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for example in content["examples"].values():
                    yield Example(
                        operation["operationId"],
                        method,
                        path,
                        operation["security"],
                        example["value"],
                        example.get("description", ""),
                    )


def replaced(value: Any, placeholders: Placeholders) -> Any:
    if isinstance(value, dict):
        return {key: own(key, item, placeholders) for key, item in value.items()}
    return [replaced(item, placeholders) for item in value] if isinstance(value, list) else value


def own(key: str, value: Any, placeholders: Placeholders) -> Any:
    if key not in placeholders:
        return replaced(value, placeholders)
    return [placeholders[key]] if isinstance(value, list) else placeholders[key]


def own_path(reader: Reader, path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: reader.value(path, variable_of(name[1])), path)


def client_for(reader: Reader, security: list[dict[str, list[str]]]) -> APIClient:
    if security == [{"bearerAuth": []}]:
        return reader.bearer
    assert security == [] or {"ApiKeyAuth": []} in security
    return reader.api if security else APIClient(headers={"host": "sho.rt"})


@pytest.mark.django_db
def test_every_request_example_succeeds(described: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "fetch_keys", lambda issuer: [])
    refused = []
    examples = list(request_examples(described))
    for example in examples:
        reader = Reader()
        placeholders = {name: reader.value(example.path, variable_of(name)) for name in example.placeholders}
        body = replaced(example.body, placeholders)
        assert placeholders == {} or body != example.body, example
        client = client_for(reader, example.security)

        response = getattr(client, example.method)(own_path(reader, example.path), body)

        is_file = response.status_code == 200 and response["Content-Type"] != "application/json"
        if response.status_code not in (200, 201, 202) or (
            not is_file and response.json().get("data", {}).get("failed", 0)
        ):
            refused.append((example.operation, response.content))
    assert refused == []
    assert len(examples) >= 12


def test_only_the_readers_own_objects_and_credentials_are_placeholders(described: dict[str, Any]) -> None:
    placeholders: dict[str, set[str]] = {}
    for example in request_examples(described):
        if example.placeholders:
            placeholders.setdefault(example.operation, set()).update(example.placeholders)
    assert placeholders == {
        "login": {"email", "password"},
        "refreshToken": {"refreshToken"},
        "changePassword": {"currentPassword"},
        "createQrCode": {"urlId"},
        "createShare": {"urlId"},
        "downloadQrSheet": {"urlIds"},
        "updateUrls": {"ids", "_id"},
        "deleteUrls": {"ids"},
        "exportSelectedUrls": {"ids"},
        "checkUrls": {"ids"},
        "moveUrls": {"ids", "workspaceId"},
        "moveDomain": {"workspaceId"},
    }


def test_no_request_example_has_a_code_a_domain_id_or_a_date_that_passes(described: dict[str, Any]) -> None:
    for example in request_examples(described):
        for name in ("customCode", "shortCode", "domainId", "expiresAt"):
            assert name not in str(example.body), example


@pytest.mark.django_db
def test_every_query_example_succeeds(described: dict[str, Any]) -> None:
    reader = Reader()
    sent = 0
    for path, methods in described["paths"].items():
        operation = methods.get("get")
        if operation is None or operation["security"] == [{"bearerAuth": []}]:
            continue
        parameters = operation.get("parameters", [])
        if any(parameter["in"] == "query" and parameter.get("required") for parameter in parameters):
            continue
        query = {}
        for parameter in parameters:
            schema = parameter["schema"]
            if parameter["in"] == "query" and ("default" in schema or "examples" in schema):
                query[parameter["name"]] = schema.get("examples", [schema.get("default")])[0]
        response = reader.api.get(own_path(reader, path), query)
        assert response.status_code == 200, (path, query, response.content)
        sent += bool(query)
    assert sent >= 7
