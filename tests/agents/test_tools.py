"""What the tools do, for whom, and what they return."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User, Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from agents.tools import TOOLS, input_schemas
from testing.accounts.accounts import account
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, key_client_in
from testing.agents import call_tool, data_of, headers_of, listed, message, post, send, text_of
from testing.analytics.clicks import drain
from testing.cases import for_each
from testing.pictures import read

MakeLink = Callable[..., dict[str, Any]]
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
READING = ["find_links", "link_stats", "explain_link", "list_domains"]


def personal(user: User) -> Workspace:
    return Workspace.objects.get(account=user)


def test_every_tool_describes_itself_in_few_words(api: APIClient) -> None:
    tools = send(api, "tools/list").json()["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)
    hints = {
        tool["name"]: sorted(name for name, value in tool["annotations"].items() if value is True)
        for tool in tools
    }
    assert hints == {
        "create_link": [],
        "update_link": ["destructiveHint", "idempotentHint"],
        **{name: ["readOnlyHint"] for name in ("find_links", "link_stats", "explain_link")},
        "make_qr": [],
        "list_domains": ["readOnlyHint"],
    }
    assert {tool["annotations"]["openWorldHint"] for tool in tools} == {False}
    # Some five thousand tokens: a model reads all of it before its first word.
    assert len(json.dumps(tools)) < 20_000


def test_arguments_have_the_rules_of_the_api() -> None:
    schemas = input_schemas()
    create = schemas["create_link"]
    assert create["required"] == ["originalUrl"]
    assert create["properties"]["customCode"]["pattern"] == "^[A-Za-z0-9]{3,50}$"
    assert create["properties"]["restrictions"]["oneOf"][0]["properties"]["maxClicks"]["minimum"] == 1
    assert schemas["link_stats"]["properties"]["limit"]["maximum"] == 100
    assert "$ref" not in json.dumps(schemas)
    assert all(set(tool.names.split()) <= schemas[name]["properties"].keys() for name, tool in TOOLS.items())


@for_each(
    ("scope", "tools"),
    [
        (Scope.URLS_READ, ["find_links", "explain_link", "list_domains"]),
        (Scope.URLS_WRITE, ["create_link", "update_link"]),
        (Scope.ANALYTICS_READ, ["link_stats"]),
        (Scope.QR_WRITE, ["make_qr"]),
        (Scope.WEBHOOKS_WRITE, []),
    ],
)
def test_scopes_decide_which_tools_a_key_has(alice: NewAccount, scope: Scope, tools: list[str]) -> None:
    client = scoped_client(personal(alice.user), alice.user, scope)
    assert listed(client) == tools
    for name in TOOLS.keys() - set(tools):
        result = call_tool(client, name, id=UNKNOWN_ID)
        assert result["isError"] is True
        assert result["structuredContent"]["code"] == "scope_required"
        assert text_of(result).startswith("scope_required: This requires a key with the scope ")


def test_roles_decide_which_tools_a_member_has(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    viewer = account("vera@example.com")
    add_member(marketing, viewer, Role.VIEWER)
    assert listed(key_client_in(marketing, viewer.api_key)) == READING
    assert listed(key_client_in(marketing, alice.api_key)) == list(TOOLS)
    refused = call_tool(
        key_client_in(marketing, viewer.api_key), "create_link", originalUrl="https://example.com/"
    )
    assert refused["structuredContent"]["data"] == {"role": "editor"}
    outside = key_client_in(marketing, stranger.api_key)
    response = send(outside, "tools/list")
    assert (response.status_code, response.json()["error"]["data"]["code"]) == (404, "not_found")
    assert call_tool(outside, "find_links")["structuredContent"]["code"] == "not_found"


def test_a_stranger_reaches_no_link(strange_api: APIClient, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="Secret")
    for name in ("update_link", "link_stats", "explain_link", "make_qr"):
        for identifier in (link["_id"], UNKNOWN_ID, "x/../y", "?"):
            result = call_tool(strange_api, name, id=identifier)
            assert (result["isError"], result["structuredContent"]["code"]) == (True, "not_found")
    assert data_of(call_tool(strange_api, "find_links", search="Secret")) == {
        "urls": [],
        "total": 0,
        "nextCursor": None,
    }
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["title"] == "Secret"


def test_keys_with_limits_find_only_their_links(alice: NewAccount, make_link: MakeLink) -> None:
    make_link()
    own = scoped_client(personal(alice.user), alice.user, only_own=True)
    created = data_of(call_tool(own, "create_link", originalUrl="https://example.com/own"))["url"]
    assert [url["_id"] for url in data_of(call_tool(own, "find_links"))["urls"]] == [created["_id"]]


def test_a_link_is_created_changed_and_explained(api: APIClient) -> None:
    result = call_tool(
        api, "create_link", originalUrl="https://example.com/spring", customCode="spring", tags=["Sale"]
    )
    url = data_of(result)["url"]
    assert (
        text_of(result) == f"Created http://sho.rt/spring to https://example.com/spring (_id {url['_id']})."
    )
    assert data_of(result).keys() == {"url", "domain"}
    stored = api.get(f"/api/urls/{url['_id']}").json()["data"]["url"]
    assert (stored["customCode"], stored["tags"]) == ("spring", ["Sale"])

    changed = call_tool(api, "update_link", id=url["_id"], restrictions={"allowedCountries": ["DE"]})
    assert text_of(changed) == f"Updated http://sho.rt/spring (_id {url['_id']}), which is active."
    assert data_of(changed)["url"]["restrictions"] == {"allowedCountries": ["DE"]}

    explained = call_tool(api, "explain_link", id=url["_id"], country="FR")
    assert data_of(explained)["outcome"]["reason"] == "country"
    assert text_of(explained).startswith(
        "The visitor is refused (country), with status 403:\n- found: The code "
    )
    welcome = call_tool(api, "explain_link", id=url["_id"], country="DE")
    assert text_of(welcome).startswith(
        "The visitor is redirected to https://example.com/spring, with status 302:\n"
    )


def test_the_history_names_the_key(alice: NewAccount, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    client = scoped_client(personal(alice.user), alice.user, Scope.URLS_WRITE)
    sent = message("tools/call", {"name": "update_link", "arguments": {"id": link["_id"], "title": "New"}})
    response = post(client, sent, **headers_of(sent))
    [change] = api.get(f"/api/urls/{link['_id']}/history").json()["data"]["changes"]
    assert (change["via"], change["after"]) == ("api_key", {"title": "New"})
    assert change["keyId"] is not None
    assert change["requestId"] == response["X-Request-ID"]


def test_a_repeated_creation_creates_nothing_twice(api: APIClient) -> None:
    arguments = {"originalUrl": "https://example.com/", "idempotencyKey": "one"}
    first, again = (data_of(call_tool(api, "create_link", **arguments)) for _ in range(2))
    assert first == again
    assert data_of(call_tool(api, "find_links"))["total"] == 1
    found = call_tool(api, "create_link", originalUrl="https://example.com/", findIfExists=True)
    assert text_of(found).startswith(f"Found {first['url']['shortUrl']} to https://example.com/ (")
    other = call_tool(api, "create_link", **{**arguments, "originalUrl": "https://example.com/other"})
    assert other["structuredContent"]["code"] == "idempotency_mismatch"
    bad = call_tool(api, "create_link", **{**arguments, "idempotencyKey": "a\nb"})
    assert bad["structuredContent"]["errors"][0]["field"] == "Idempotency-Key"


def test_errors_and_warnings_are_those_of_the_api(api: APIClient) -> None:
    refused = call_tool(api, "create_link", originalUrl="https://sho.rt/x", maxClicks=3, customCode="a b")
    assert refused["isError"] is True
    data = refused["structuredContent"]
    assert (data["code"], {error["field"] for error in data["errors"]}) == (
        "validation_error",
        {"maxClicks", "customCode"},
    )
    assert text_of(refused).splitlines() == [
        "validation_error: maxClicks: Unknown field. Did you mean restrictions.maxClicks?",
        "- customCode: Must be 3 to 50 letters and digits (A-Z, a-z, 0-9).",
    ]
    warned = call_tool(api, "create_link", originalUrl="https://example.com/", colour="red")
    assert text_of(warned).endswith("\nWarning: colour: Unknown field; it was ignored.")
    assert data_of(warned)["warnings"][0]["field"] == "colour"
    assert data_of(call_tool(api, "find_links"))["total"] == 1


@for_each(("tool",), [("update_link",), ("explain_link",), ("make_qr",)])
def test_a_call_without_an_id_is_told_so(api: APIClient, tool: str) -> None:
    for arguments in ({}, {"id": None}, {"id": 5}, {"id": ""}):
        result = call_tool(api, tool, **arguments)
        assert result["structuredContent"]["errors"] == [
            {"field": "id", "code": "required", "message": "The `_id` of a link is required, as a text."}
        ]


def test_lists_are_short_and_go_on(api: APIClient, make_link: MakeLink) -> None:
    links = [make_link(f"https://example.com/{'x' * 400}{n}", tags=["a"] if n else []) for n in range(3)]
    first = call_tool(api, "find_links", limit=2)
    assert [url["_id"] for url in data_of(first)["urls"]] == [links[2]["_id"], links[1]["_id"]]
    assert [len(url["originalUrl"]) for url in data_of(first)["urls"]] == [300, 300]
    assert text_of(first).splitlines()[0] == "2 of 3 links."
    assert text_of(first).splitlines()[-1] == f"More with cursor {data_of(first)['nextCursor']}."
    make_link()
    rest = call_tool(api, "find_links", limit=2, cursor=data_of(first)["nextCursor"])
    assert [url["_id"] for url in data_of(rest)["urls"]] == [links[0]["_id"]]
    assert (data_of(rest)["total"], data_of(rest)["nextCursor"]) == (4, None)
    tagged = call_tool(api, "find_links", tags=["a", "b"], status="active")
    assert data_of(tagged)["total"] == 2
    wrong = call_tool(api, "find_links", cursor="x")
    assert wrong["structuredContent"]["errors"][0]["field"] == "cursor"


def test_a_call_costs_what_the_call_of_the_api_does(api: APIClient, make_link: MakeLink) -> None:
    for _ in range(3):
        make_link()
    call_tool(api, "find_links")
    with CaptureQueriesContext(connection) as by_api:
        api.get("/api/urls")
    with CaptureQueriesContext(connection) as by_tool:
        call_tool(api, "find_links")
    assert len(by_tool) == len(by_api)


def test_reports_have_totals_and_one_dimension(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link, other = make_link(title="Spring"), make_link()
    for _ in range(3):
        visitor.get(f"/{link['shortCode']}")
    visitor.get(f"/{other['shortCode']}")
    drain()
    totals = call_tool(api, "link_stats", id=link["_id"])
    assert text_of(totals) == "3 clicks, 1 unique."
    assert data_of(totals)["totalClicks"] == 3
    assert data_of(totals).keys() == {
        *("totalClicks", "uniqueClicks", "importedClicks", "scans", "notCounted", "refused"),
    }
    by_device = call_tool(
        api, "link_stats", id=link["_id"], dimension="device", period="7d", compare="previous"
    )
    assert text_of(by_device).splitlines() == [
        "3 clicks, 1 unique; 0 clicks in the compared period. By device:",
        "- desktop: 3",
    ]
    assert data_of(by_device)["groups"] == [{"value": "desktop", "clicks": 3, "uniqueClicks": None}]
    by_date = data_of(call_tool(api, "link_stats", id=link["_id"], dimension="date", period="30d"))
    assert [row["clicks"] for row in by_date["clicksByDate"]] == [3]
    by_link = call_tool(api, "link_stats", dimension="url", format="csv")
    assert text_of(by_link).splitlines()[1:] == [f"- {link['shortUrl']}: 3", f"- {other['shortUrl']}: 1"]
    wrong = call_tool(api, "link_stats", dimension="colour")
    assert wrong["structuredContent"]["errors"][0]["field"] == "dimension"


def test_a_qr_code_is_shown(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    result = call_tool(api, "make_qr", id=link["_id"])
    text, image = result["content"]
    code = data_of(result)["qrCode"]
    assert text["text"] == f"The QR code is at {code['imageUrl']} (_id {code['_id']})."
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert read(base64.b64decode(image["data"]), "png") == [f"{link['shortUrl']}?qr=1"]
    vector = call_tool(api, "make_qr", id=link["_id"], format="svg")
    assert [part["type"] for part in vector["content"]] == ["text"]
    assert data_of(vector)["qrCode"]["imageUrl"].endswith(".svg")


def test_domains_are_listed_with_their_ids(api: APIClient, settings: Settings) -> None:
    result = call_tool(api, "list_domains")
    assert data_of(result)["domains"][0] == {"id": "base", "shortUrl": settings.BASE_URL, "isDefault": True}
    assert text_of(result).splitlines()[1] == f"- {settings.BASE_URL} (id base)"


HOSTILE = [
    None,
    True,
    -1,
    1e300,
    10**30,
    "",
    "\u202e",
    "x" * 2_500,
    "../..",
    "%00",
    [],
    [[]],
    {},
    {"a": [None]},
]


@pytest.mark.slow
@for_each(("tool",), [(name,) for name in TOOLS])
def test_any_value_of_an_argument_is_refused_by_the_tool(
    api: APIClient, make_link: MakeLink, tool: str
) -> None:
    identifier = make_link()["_id"]
    names = input_schemas()[tool]["properties"].keys() - {"id"}
    for value in HOSTILE:
        for arguments in (
            dict.fromkeys([*names, "id"], value),
            {**dict.fromkeys(names, value), "id": identifier},
        ):
            # Also a result, if all that it has means the same as nothing.
            call_tool(api, tool, **arguments)
