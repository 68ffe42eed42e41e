"""Strict handling refuses unknown fields; whole links can be sent back."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Link
from testing.links.many import imported
from testing.refusals import broken_rules
from tests.links.fields.warnings_of_fields import STRICT, URL, MakeLink


def test_strict_handling_refuses_every_unknown_field(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    for response in (
        api.post("/api/urls", {"originalUrl": URL, "colour": 1}, headers=STRICT),
        api.put(f"/api/urls/{link['_id']}", {"colour": 1}, headers=STRICT),
        api.get("/api/urls?colour=1", headers=STRICT),
        api.get("/api/urls/export?colour=1", headers=STRICT),
        api.delete(f"/api/urls/{link['_id']}?colour=1", headers=STRICT),
    ):
        assert broken_rules(response) == [("colour", "unknown_field")]
        assert response["Preference-Applied"] == "handling=strict"
    body = {"urls": [{"originalUrl": URL, "colour": 1}, {"originalUrl": URL}]}
    response = api.post("/api/urls/bulk", body, headers=STRICT)
    assert [result["status"] for result in response.json()["data"]["results"]] == [400, 201]
    assert response["Preference-Applied"] == "handling=strict"
    assert Link.objects.count() == 2


def test_strict_handling_accepts_known_fields(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    whole = api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]
    response = api.put(f"/api/urls/{link['_id']}", whole, headers=STRICT)
    assert (response.status_code, response["Preference-Applied"]) == (200, "handling=strict")
    assert api.get("/api/urls?page=1&limit=5", headers=STRICT).status_code == 200


@pytest.mark.parametrize("prefer", [{}, STRICT])
def test_a_whole_link_can_be_sent_back(api: APIClient, alice: NewAccount, prefer: dict[str, str]) -> None:
    fields = {
        "customCode": "spring",
        "tags": ["a"],
        "password": "secret",
        "utm": {"source": "mail"},
        "restrictions": {"maxClicks": 5, "allowedDevices": ["mobile"]},
    }
    link = api.post("/api/urls", {"originalUrl": URL, **fields}).json()["data"]["url"]
    row = f"originalUrl,customCode,clickCount\n{URL},old,7\n"
    [result] = imported(api, row)
    listed = api.get("/api/urls").json()["data"]["urls"]
    for identifier in (link["_id"], result["url"]["_id"]):
        path = f"/api/urls/{identifier}"
        whole = api.get(path).json()["data"]["url"]
        [shown] = [link for link in listed if link["_id"] == identifier]
        for sent in (whole, shown, {**whole, "title": "new"}):
            body = api.put(path, sent, headers=prefer).json()
            assert (body["success"], body.get("warnings")) == (True, None), body
        [item] = api.post("/api/urls/bulk-update", {"urls": [whole]}, headers=prefer).json()["data"][
            "results"
        ]
        assert (item["success"], item.get("warnings")) == (True, None)
        after = api.get(path).json()["data"]["url"]
        assert {**after, "updatedAt": None} == {**whole, "updatedAt": None}
