"""Every request of the description works as it stands: the reader of /api/docs only adds a credential."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from accounts.token_issuers import services
from accounts.token_issuers.services import create_issuer
from testing.accounts.accounts import PASSWORD, account
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, team
from testing.contract.description import described as described

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
        return {
            key: placeholders[key] if key in placeholders else replaced(item, placeholders)
            for key, item in value.items()
        }
    return [replaced(item, placeholders) for item in value] if isinstance(value, list) else value


@pytest.fixture
def own_values(
    alice: NewAccount,
    api: APIClient,
    anonymous: APIClient,
    make_link: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Example], Placeholders]:
    """Creates a link for each example, and returns the values for its path and placeholders."""
    credentials = {"email": alice.user.email, "password": PASSWORD}
    tokens = anonymous.post("/api/auth/login", credentials).json()
    domain = api.post("/api/domains", {"domain": "links.example"}).json()["data"]["domain"]
    workspace = team(alice)
    member = add_member(workspace, account("member@example.com"), Role.VIEWER)
    key = scoped_key(alice.workspace, alice.user).key
    monkeypatch.setattr(services, "fetch_keys", lambda issuer: [])
    issuer = create_issuer(
        workspace=alice.workspace,
        creator=alice.user,
        name="Deploy",
        scopes=["urls:read"],
        issuer="https://issuer.example",
        audience="https://sho.rt",
        subject="repo:acme/site:*",
    )
    view = api.post("/api/views", {"name": "View", "filters": {}}).json()["data"]["view"]
    template = api.post("/api/utm-templates", {"name": "Template"}).json()["data"]["template"]

    design = api.post("/api/qr-designs", {"name": "Flyers"}).json()["data"]["design"]["_id"]

    shared = api.post("/api/analytics/shares", {"urlId": make_link()["_id"]}).json()["data"]["share"]["_id"]

    body = {"name": "Shop", "types": ["link.created"], "url": "https://example.com/"}
    webhook = api.post("/api/webhooks", body).json()["data"]["webhook"]["_id"]

    def create(example: Example) -> Placeholders:
        link = make_link(tags=["sale"])["_id"]
        return {
            "name": "sale",
            **credentials,
            "currentPassword": PASSWORD,
            "refreshToken": tokens["refreshToken"],
            "urlId": link,
            "_id": link,
            "ids": [link],
            "urlIds": [link],
            "id": {
                "domains": domain["_id"],
                "workspaces": str(workspace.public_id),
                "keys": str(key.public_id),
                "token-issuers": str(issuer.public_id),
                "views": view["_id"],
                "utm-templates": template["_id"],
                "qr-designs": design,
                "analytics": shared,
                "webhooks": webhook,
            }.get(example.path.split("/")[2], link),
            "memberId": str(member.user.public_id),
            "workspaceId": str(workspace.public_id),
        }

    return create


@pytest.fixture
def send(
    api: APIClient, bearer: APIClient, anonymous: APIClient
) -> Callable[[Example, Any, Placeholders], Any]:
    def request(example: Example, body: Any, values: Placeholders) -> Any:
        if example.security == [{"bearerAuth": []}]:
            client = bearer
        else:
            client = api if {"ApiKeyAuth": []} in example.security else anonymous
            assert client is api or example.security == []
        return getattr(client, example.method)(example.path.format(**values), body)

    return request


def test_every_request_example_succeeds(
    described: dict[str, Any],
    own_values: Callable[[Example], Placeholders],
    send: Callable[[Example, Any, Placeholders], Any],
) -> None:
    refused = []
    # The others need the password and the tokens that this one replaces.
    examples = sorted(request_examples(described), key=lambda each: each.operation == "changePassword")
    for example in examples:
        values = own_values(example)
        placeholders = {name: values[name] for name in example.placeholders}
        body = replaced(example.body, placeholders)
        assert placeholders == {} or body != example.body, example

        response = send(example, body, values)

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


def test_every_query_example_succeeds(
    alice: NewAccount,
    api: APIClient,
    described: dict[str, Any],
    make_link: Callable[..., dict[str, Any]],
) -> None:
    link = make_link(tags=["sale", "old"])["_id"]
    change = api.delete("/api/tags/old").json()["data"]["change"]["_id"]
    template = api.post("/api/utm-templates", {"name": "Template"}).json()["data"]["template"]["_id"]
    domain = api.post("/api/domains", {"domain": "links.example"}).json()["data"]["domain"]["_id"]
    qr_code = api.post("/api/qr-codes", {"urlId": link}).json()["data"]["qrCode"]["_id"]
    view = api.post("/api/views", {"name": "View", "filters": {}}).json()["data"]["view"]["_id"]
    design = api.post("/api/qr-designs", {"name": "Posters"}).json()["data"]["design"]["_id"]
    share = api.post("/api/analytics/shares", {"urlId": link}).json()["data"]["share"]["_id"]
    body = {"name": "Shop", "types": ["link.created"], "url": "https://example.com/"}
    webhook = api.post("/api/webhooks", body).json()["data"]["webhook"]["_id"]
    own = {
        "/api/webhooks": webhook,
        "/api/urls": link,
        "/api/views": view,
        "/api/tag-changes": change,
        "/api/utm-templates": template,
        "/api/analytics/shares": share,
        "/api/analytics/{": link,
        "/api/qr-codes": qr_code,
        "/api/qr-designs": design,
        "/api/workspaces": str(team(alice).public_id),
    }
    sent = 0
    for path, methods in described["paths"].items():
        operation = methods.get("get")
        if operation is None or operation["security"] == [{"bearerAuth": []}]:
            continue
        parameters = operation.get("parameters", [])
        if any(parameter["in"] == "query" and parameter.get("required") for parameter in parameters):
            continue
        identifier = next((value for prefix, value in own.items() if path.startswith(prefix)), domain)
        query = {}
        for parameter in parameters:
            schema = parameter["schema"]
            if parameter["in"] == "query" and ("default" in schema or "examples" in schema):
                query[parameter["name"]] = schema.get("examples", [schema.get("default")])[0]
        response = api.get(path.format(id=identifier, urlId=identifier, name="sale"), query)
        assert response.status_code == 200, (path, query, response.content)
        sent += bool(query)
    assert sent >= 7
