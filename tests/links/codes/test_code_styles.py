"""How generated codes look, by the settings of the workspace and of the domain."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.code_styles import CodeStyle
from accounts.rights import Role
from accounts.services import NewAccount
from domains.models import Domain
from links.codes import generate_code
from links.models import Code, Link
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.refusals import broken_rules
from testing.threads import at_once

URL = "https://example.com/"
READABLE = set("23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")


def codes(api: APIClient, number: int = 1, **fields: Any) -> list[str]:
    """The generated codes of new links: one of a single call, and the others of a bulk call."""
    body = {"originalUrl": URL, **fields}
    single = api.post("/api/urls", body).json()["data"]["url"]["shortCode"]
    results = api.post("/api/urls/bulk", {"urls": [body] * number}).json()["data"]["results"]
    return [single, *(result["url"]["shortCode"] for result in results)]


def choose(api: APIClient, path: str, **settings: Any) -> dict[str, Any]:
    response = api.patch(path, settings)
    assert response.status_code == 200, response.content
    [changed] = response.json()["data"].values()
    assert {name: changed[name] for name in settings} == settings
    return changed


def lengths(api: APIClient, **fields: Any) -> set[int]:
    return {len(code) for code in codes(api, **fields)}


def test_generated_codes_have_the_length_and_the_alphabet_of_the_workspace(
    api: APIClient, alice: NewAccount
) -> None:
    path = f"/api/workspaces/{alice.workspace.public_id}"
    read = api.get(path).json()["data"]["workspace"]
    assert (read["codeLength"], read["codeAlphabet"], lengths(api)) == (None, None, {7})
    choose(api, path, codeLength=20, codeAlphabet="readable")
    drawn = codes(api, 30)
    assert {len(code) for code in drawn} == {20}
    assert set("".join(drawn)) == READABLE
    # In force at once, also where the process knows the former setting.
    choose(api, path, codeLength=5)
    assert lengths(api) == {5}
    choose(api, path, codeLength=None, codeAlphabet=None)
    assert lengths(api) == {7}


def test_the_setting_of_a_domain_comes_first(api: APIClient, alice: NewAccount, brand: Domain) -> None:
    on_brand = {"domainId": str(brand.public_id)}
    choose(api, f"/api/workspaces/{alice.workspace.public_id}", codeLength=9, codeAlphabet="readable")
    assert (lengths(api), lengths(api, **on_brand)) == ({9}, {9})
    choose(api, f"/api/domains/{brand.public_id}", codeLength=12)
    assert (lengths(api), lengths(api, **on_brand)) == ({9}, {12})
    assert set("".join(codes(api, 30, **on_brand))) <= READABLE
    choose(api, f"/api/domains/{brand.public_id}", codeLength=None, codeAlphabet="full")
    assert lengths(api, **on_brand) == {9}


def test_chosen_codes_stay_as_they_are(api: APIClient, alice: NewAccount) -> None:
    choose(api, f"/api/workspaces/{alice.workspace.public_id}", codeLength=9)
    assert api.post("/api/urls", {"originalUrl": URL, "customCode": "O0l"}).status_code == 201
    content = "shortCode,originalUrl\nI1,https://example.com/\n,https://example.com/\n"
    body = {"content": content, "dryRun": False}
    assert api.post("/api/urls/import", body).status_code == 200
    assert sorted(map(len, Link.objects.values_list("short_code", flat=True))) == [2, 9, 9]


def test_the_setting_is_of_one_workspace_and_its_admins(
    alice: NewAccount, stranger: NewAccount, api: APIClient, strange_api: APIClient
) -> None:
    path = f"/api/workspaces/{alice.workspace.public_id}"
    assert strange_api.patch(path, {"codeLength": 9}).status_code == 404
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    editor = key_client_in(workspace, stranger.api_key)
    assert editor.patch(f"/api/workspaces/{workspace.public_id}", {"codeLength": 9}).status_code == 403
    choose(api, f"/api/workspaces/{workspace.public_id}", codeLength=9)
    assert (lengths(editor), lengths(api), lengths(strange_api)) == ({9}, {7}, {7})


@pytest.mark.parametrize(
    ("sent", "field", "code"),
    [
        ({"codeLength": 4}, "codeLength", "min_value"),
        ({"codeLength": 21}, "codeLength", "max_value"),
        ({"codeLength": "7"}, "codeLength", "invalid"),
        ({"codeLength": 7.5}, "codeLength", "invalid"),
        ({"codeAlphabet": "emoji"}, "codeAlphabet", "invalid_choice"),
    ],
)
def test_other_settings_are_refused(
    sent: dict[str, Any], field: str, code: str, api: APIClient, alice: NewAccount, brand: Domain
) -> None:
    for path in (f"/api/workspaces/{alice.workspace.public_id}", f"/api/domains/{brand.public_id}"):
        assert broken_rules(api.patch(path, sent)) == [(field, code)]


def test_codes_grow_where_a_length_is_used_up(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("links.codes.urandom", lambda length: b"\0" * length)
    assert codes(api, 2) == ["0000000", "00000000", "000000000"]
    assert Code.objects.count() == 3
    assert generate_code((), CodeStyle(5, "readable"), 10) == "2222222"


def test_the_history_tells_who_changed_the_setting(api: APIClient, alice: NewAccount) -> None:
    choose(api, f"/api/workspaces/{alice.workspace.public_id}", codeLength=9, codeAlphabet="readable")
    change = api.get("/api/audit?action=workspace.updated").json()["data"]["changes"][0]
    assert change["after"] == {"codeLength": 9, "codeAlphabet": "readable"}


@pytest.mark.django_db(transaction=True)
def test_a_creation_at_the_moment_of_a_change_has_one_of_both(api: APIClient, alice: NewAccount) -> None:
    path = f"/api/workspaces/{alice.workspace.public_id}"
    calls = [lambda: api.post("/api/urls", {"originalUrl": URL}).status_code] * 6
    calls.append(lambda: api.patch(path, {"codeLength": 9}).status_code)
    assert at_once(calls) == [201] * 6 + [200]
    assert set(map(len, Link.objects.values_list("short_code", flat=True))) <= {7, 9}
