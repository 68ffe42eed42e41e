"""The saved designs of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from qrcodes.models import SavedDesign
from testing.accounts.accounts import key_client
from testing.accounts.workspaces import key_client_in, team
from testing.pictures import data_uri, file_of, logo
from testing.refusals import broken_rules
from testing.threads import at_once
from tests.qrcodes.conftest import GetImage, MakeQrCode

PATH = "/api/qr-designs"
UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000"
LOOK = {
    "size": 900,
    "widthMm": 60,
    "errorCorrectionLevel": "Q",
    "foregroundColor": "#204080",
    "backgroundColor": "#FFFFEE",
    "margin": 5,
    "style": "rounded",
    "frameText": "Scan me",
    "framePosition": "above",
}
USUAL = {
    "isDefault": False,
    "size": 300,
    "widthMm": None,
    "errorCorrectionLevel": "M",
    "foregroundColor": "#000000",
    "backgroundColor": "#FFFFFF",
    "margin": 4,
    "style": "square",
    "frameText": None,
    "framePosition": "below",
    "hasLogo": False,
    "logo": None,
    "brandLogo": True,
}


def save(client: APIClient, name: str, **fields: Any) -> dict[str, Any]:
    response = client.post(PATH, {"name": name, **fields})
    assert response.status_code == 201, response.json()
    return response.json()["data"]["design"]


def listed(client: APIClient) -> list[dict[str, Any]]:
    return client.get(PATH).json()["data"]["designs"]


def names(client: APIClient) -> list[str]:
    return [design["name"] for design in listed(client)]


def shown(design: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in design.items() if name not in ("_id", "createdAt", "updatedAt")}


def missing(response: HttpResponse) -> bool:
    body = {"success": False, "message": "QR design not found.", "code": "not_found"}
    return (response.status_code, response.json()) == (404, body)


def test_a_design_with_only_a_name_has_every_default(api: APIClient) -> None:
    design = save(api, " Posters ")
    assert shown(design) == {"name": "Posters", **USUAL}
    assert api.get(f"{PATH}/{design['_id']}").json() == {"success": True, "data": {"design": design}}


def test_a_design_keeps_every_field(api: APIClient) -> None:
    sent = {**LOOK, "isDefault": True, "brandLogo": False, "logo": data_uri(file_of(logo()))}
    design = save(api, "Posters", **sent)
    # The logo is encoded again, and requires the highest level.
    expected = {**sent, "name": "Posters", "hasLogo": True, "logo": design["logo"]}
    assert shown(design) == expected
    assert design["logo"].startswith("data:image/png;base64,")
    # Its logo can be sent to a code.
    assert save(api, "Copy", logo=design["logo"])["logo"] == design["logo"]


def test_the_list_is_by_name_and_has_no_logos(api: APIClient, django_assert_num_queries: Any) -> None:
    for name in ("b", "a", "c"):
        save(api, name, logo=data_uri(file_of(logo())))
        expected = [
            {
                key: value
                for key, value in api.get(f"{PATH}/{design.public_id}").json()["data"]["design"].items()
                if key != "logo"
            }
            for design in SavedDesign.objects.order_by("name")
        ]
        with django_assert_num_queries(2) as captured:  # the credential, the designs
            assert listed(api) == expected
        assert not [query for query in captured.captured_queries if '"logo"' in query["sql"]]
    assert names(api) == ["a", "b", "c"]


def test_an_update_keeps_what_it_does_not_name(api: APIClient) -> None:
    design = save(api, "Posters", **LOOK, isDefault=True, logo=data_uri(file_of(logo())))
    response = api.put(f"{PATH}/{design['_id']}", {"name": "Flyers", "frameText": None})
    assert response.json()["message"] == "QR design updated successfully."
    changed = response.json()["data"]["design"]
    assert shown(changed) == {**shown(design), "name": "Flyers", "frameText": None}
    assert (changed["_id"], changed["createdAt"]) == (design["_id"], design["createdAt"])
    assert changed["updatedAt"] > design["updatedAt"]
    response = api.put(f"{PATH}/{design['_id']}", {"logo": None, "isDefault": False})
    assert shown(response.json()["data"]["design"]) == {
        **shown(changed),
        "isDefault": False,
        "hasLogo": False,
        "logo": None,
    }


def test_a_changed_colour_is_compared_with_the_stored_one(api: APIClient) -> None:
    design = save(api, "Posters", foregroundColor="#204080")
    path = f"{PATH}/{design['_id']}"
    assert broken_rules(api.put(path, {"backgroundColor": "#204081"})) == [("foregroundColor", "contrast")]
    assert api.get(path).json()["data"]["design"] == design
    assert api.put(path, {"backgroundColor": "#FFFFEE"}).status_code == 200


def test_a_design_can_be_sent_back(api: APIClient) -> None:
    design = save(api, "Posters", **LOOK)
    response = api.put(f"{PATH}/{design['_id']}", design)
    assert "warnings" not in response.json()
    assert shown(response.json()["data"]["design"]) == shown(design)


def test_a_workspace_has_one_default(api: APIClient) -> None:
    first, second = save(api, "a", isDefault=True), save(api, "b", isDefault=True)
    assert [design["isDefault"] for design in listed(api)] == [False, True]
    api.put(f"{PATH}/{first['_id']}", {"name": "a", "isDefault": True})
    assert [design["isDefault"] for design in listed(api)] == [True, False]
    api.delete(f"{PATH}/{first['_id']}")
    assert [design["_id"] for design in listed(api)] == [second["_id"]]


def test_a_deleted_design_changes_no_code(
    api: APIClient, make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    design = save(api, "Posters", **LOOK)
    code = make_qr_code(**LOOK)
    before = get_image(code).content
    response = api.delete(f"{PATH}/{design['_id']}")
    assert response.json() == {"success": True, "message": "QR design deleted successfully."}
    assert missing(api.delete(f"{PATH}/{design['_id']}"))
    assert api.get(f"/api/qr-codes/{code['_id']}").json()["data"]["qrCode"] == code
    assert get_image(code).content == before


def test_names_are_unique_in_a_workspace(api: APIClient, strange_api: APIClient) -> None:
    save(api, "Posters")
    other = save(api, "Flyers")
    taken = {
        "success": False,
        "message": "Another saved design of the workspace has this name.",
        "code": "name_taken",
    }
    for response in (
        api.post(PATH, {"name": "Posters"}),
        api.put(f"{PATH}/{other['_id']}", {"name": "Posters", "isDefault": True}),
    ):
        assert (response.status_code, response.json()) == (409, taken)
    assert [design["isDefault"] for design in listed(api)] == [False, False]
    save(strange_api, "Posters")


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({}, [("name", "required")]),
        ({"name": " "}, [("name", "blank")]),
        ({"name": "x" * 61}, [("name", "max_length")]),
        ({"name": "x", "frameText": "x" * 31}, [("frameText", "max_length")]),
        *(
            ({"name": "x", "frameText": text}, [("frameText", code)])
            for text, code in (
                ("", "blank"),
                ("Scan\tme", "character"),
                ("Scan\u001bme", "character"),
                ("\U0001f600", "character"),
                ("読", "character"),
                ("a\u202eb", "direction"),
            )
        ),
        ({"name": "x", "framePosition": "left"}, [("framePosition", "invalid_choice")]),
        ({"name": "x", "widthMm": 4}, [("widthMm", "min_value")]),
        ({"name": "x", "widthMm": 2001}, [("widthMm", "max_value")]),
        ({"name": "x", "widthMm": 50.5}, [("widthMm", "invalid")]),
        ({"name": "x", "foregroundColor": "#FFFFFE"}, [("foregroundColor", "contrast")]),
        ({"name": "x", "isDefault": 1}, [("isDefault", "invalid")]),
        ({"name": "x", "logo": "x"}, [("logo", "invalid")]),
    ],
)
def test_invalid_fields_are_refused(
    api: APIClient, fields: dict[str, Any], broken: list[tuple[str, str]]
) -> None:
    design = save(api, "Posters")
    assert broken_rules(api.post(PATH, fields)) == broken
    if fields:
        assert broken_rules(api.put(f"{PATH}/{design['_id']}", fields)) == broken
    assert listed(api) == [{name: value for name, value in design.items() if name != "logo"}]


@pytest.mark.parametrize("text", ["Größer", "Отсканируй меня", "Σαρώστε με", "Przeczytaj: żółć", "1 < 2 & 3"])
def test_frames_have_the_letters_of_many_languages(api: APIClient, text: str) -> None:
    assert save(api, "x", frameText=text)["frameText"] == text


def test_combining_accents_become_letters(api: APIClient) -> None:
    assert save(api, "x", frameText="Gro\u0308ße")["frameText"] == "Größe"


def test_weak_colours_have_a_warning(api: APIClient) -> None:
    weak = {"name": "x", "foregroundColor": "#FFE08A"}
    response = api.post(PATH, weak)
    assert [warning["code"] for warning in response.json()["warnings"]] == ["low_contrast"]
    design = response.json()["data"]["design"]
    response = api.put(f"{PATH}/{design['_id']}", weak)
    assert [warning["code"] for warning in response.json()["warnings"]] == ["low_contrast"]


def test_a_stranger_reaches_no_design(api: APIClient, strange_api: APIClient) -> None:
    design = save(api, "Posters")
    path = f"{PATH}/{design['_id']}"
    assert listed(strange_api) == []
    for response in (strange_api.get(path), strange_api.put(path, {"name": "x"}), strange_api.delete(path)):
        assert missing(response)
    assert names(api) == ["Posters"]


@pytest.mark.parametrize("identifier", [UNKNOWN_ID, "x", "null"])
def test_an_unknown_design_is_404(api: APIClient, identifier: str) -> None:
    path = f"{PATH}/{identifier}"
    for response in (api.get(path), api.put(path, {"name": "x"}), api.delete(path)):
        assert missing(response)


def test_members_share_the_designs_of_their_workspace(alice: NewAccount, api: APIClient) -> None:
    workspace = team(alice)
    member = key_client_in(workspace, alice.api_key)
    save(member, "Team")
    save(api, "Own")
    assert (names(member), names(api)) == (["Team"], ["Own"])


def test_designs_do_not_keep_a_workspace(alice: NewAccount) -> None:
    workspace = team(alice)
    client = key_client_in(workspace, alice.api_key)
    save(client, "Team", logo=data_uri(file_of(logo())))
    assert client.delete(f"/api/workspaces/{workspace.public_id}").status_code == 200
    assert not Workspace.objects.filter(pk=workspace.pk).exists()
    assert not SavedDesign.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_do_not_exceed_the_limit(alice: NewAccount, api: APIClient) -> None:
    owner = alice.workspace
    SavedDesign.objects.bulk_create(
        SavedDesign(
            owner=owner, name=f"design {number}", is_default=False, brand_logo=True, size=300, level="M",
            foreground="#000000", background="#FFFFFF", margin=4, style="square", frame_position="below",
        )
        for number in range(48)
    )  # fmt: skip

    def post(number: int) -> int:
        return key_client(alice.api_key).post(PATH, {"name": f"new {number}", "isDefault": True}).status_code

    assert sorted(at_once([partial(post, number) for number in range(6)])) == [201] * 2 + [403] * 4
    assert SavedDesign.objects.filter(is_default=True).count() == 1
    refused = api.post(PATH, {"name": "x"})
    assert refused.json() == {
        "success": False,
        "message": "A workspace may have at most 50 saved designs. Delete one first.",
        "code": "quota_exceeded",
    }


def test_a_repeated_creation_with_a_key_creates_one_design(api: APIClient) -> None:
    send: Callable[[], Any] = lambda: api.post(  # noqa: E731 # the same request twice
        PATH, {"name": "Posters"}, headers={"Idempotency-Key": "design-1"}
    )
    assert send().json() == send().json()
    assert names(api) == ["Posters"]
