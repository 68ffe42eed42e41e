"""UTM templates: named values and rules of a workspace for the campaign parameters of its links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Change
from accounts.rights import Role
from accounts.services import NewAccount
from accounts.workspaces import delete_workspace
from links.models import Link, UtmTemplate
from links.utm_templates import services
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.links.calls import whole
from testing.links.many import UNKNOWN_ID, URL, create_many, imported
from testing.refusals import broken_rules
from testing.threads import at_once
from tests.links.many_changes import update, update_all

MakeLink = Callable[..., dict[str, Any]]
CONTENT = {
    "name": "Newsletter",
    "values": {"source": "newsletter", "medium": "email"},
    "allowedValues": {"source": ["newsletter", "shop"], "campaign": ["spring"]},
}
REFUSED = {
    "field": "utm.source",
    "code": "not_allowed",
    "message": "The template Newsletter allows only newsletter and shop.",
}


def create(api: APIClient, **fields: Any) -> Any:
    return api.post("/api/utm-templates", {**CONTENT, **fields})


@pytest.fixture
def template(api: APIClient) -> dict[str, Any]:
    response = create(api)
    assert response.status_code == 201, response.content
    made: dict[str, Any] = response.json()["data"]["template"]
    return made


def templates(api: APIClient) -> list[dict[str, Any]]:
    response = api.get("/api/utm-templates")
    assert response.status_code == 200
    found: list[dict[str, Any]] = response.json()["data"]["templates"]
    return found


def test_templates_are_listed_by_name_in_one_query(api: APIClient, django_assert_num_queries: Any) -> None:
    for name in ("Spring", "Autumn", " Summer "):
        assert create(api, name=name).status_code == 201
    with django_assert_num_queries(2):
        found = templates(api)
    assert [template["name"] for template in found] == ["Autumn", "Spring", "Summer"]
    assert {name: found[0][name] for name in ("values", "allowedValues")} == {
        "values": CONTENT["values"],
        "allowedValues": CONTENT["allowedValues"],
    }


def test_a_template_is_changed_read_and_deleted(api: APIClient, template: dict[str, Any]) -> None:
    address = f"/api/utm-templates/{template['_id']}"
    renamed = api.patch(address, {"name": "Mails"}).json()["data"]["template"]
    assert (renamed["name"], renamed["values"]) == ("Mails", CONTENT["values"])
    assert renamed["updatedAt"] > template["updatedAt"]
    changed = api.patch(address, {"values": {"term": "x", "content": None}, "allowedValues": {"term": []}})
    assert changed.json()["data"]["template"]["values"] == {"term": "x"}
    assert changed.json()["data"]["template"]["allowedValues"] == {}
    # What was read can be sent back.
    read = api.get(address).json()["data"]["template"]
    assert api.patch(address, read).status_code == 200
    assert api.delete(address).status_code == 200
    assert (templates(api), api.get(address).status_code, api.delete(address).status_code) == ([], 404, 404)


def test_the_history_has_every_change(api: APIClient, template: dict[str, Any]) -> None:
    address = f"/api/utm-templates/{template['_id']}"
    api.patch(address, {"allowedValues": {}})
    api.delete(address)
    recorded = [
        (entry["action"], entry["before"], entry["after"])
        for entry in api.get("/api/audit", {"object": template["_id"]}).json()["data"]["changes"]
    ]
    assert recorded == [
        ("utm_template.deleted", {**CONTENT, "allowedValues": {}}, {}),
        ("utm_template.updated", {"allowedValues": CONTENT["allowedValues"]}, {"allowedValues": {}}),
        ("utm_template.created", {}, CONTENT),
    ]


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"name": " "}, ("name", "blank")),
        ({"name": "x" * 61}, ("name", "max_length")),
        ({"values": []}, ("values", "invalid")),
        ({"values": {"sorce": "x"}}, ("values.sorce", "unknown_field")),
        ({"values": {"source": 5}}, ("values.source", "invalid")),
        ({"values": {"term": "x" * 201}}, ("values.term", "max_length")),
        ({"values": {"source": "other"}}, ("values.source", "not_allowed")),
        ({"allowedValues": {"source": "newsletter"}}, ("allowedValues.source", "not_a_list")),
        ({"allowedValues": {"source": [""]}}, ("allowedValues.source.0", "blank")),
        ({"allowedValues": {"term": ["x"] * 51}}, ("allowedValues.term", "max_length")),
        ({"allowedValues": {"other": []}}, ("allowedValues.other", "unknown_field")),
    ],
    ids=str,
)
def test_bad_templates_are_refused(
    api: APIClient, template: dict[str, Any], fields: dict[str, Any], broken: tuple[str, str]
) -> None:
    for response in (create(api, **fields), api.patch(f"/api/utm-templates/{template['_id']}", fields)):
        assert (response.status_code, broken_rules(response)) == (400, [broken])
    assert templates(api) == [template]


def test_a_name_is_taken_once(api: APIClient, strange_api: APIClient, template: dict[str, Any]) -> None:
    assert create(strange_api).status_code == 201
    other = create(api, name="Other").json()["data"]["template"]
    for response in (create(api), api.patch(f"/api/utm-templates/{other['_id']}", {"name": "Newsletter"})):
        assert (response.status_code, response.json()["code"]) == (409, "utm_template_exists")


@pytest.mark.django_db(transaction=True)
def test_a_workspace_has_a_limited_number_of_templates(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_TEMPLATES", 3)

    def attempt(number: int) -> bool:
        try:
            services.create_template(owner=alice.workspace, name=f"Template {number}")
        except services.TooManyTemplates:
            return False
        return True

    outcomes = at_once([lambda number=number: attempt(number) for number in range(6)])  # type: ignore[misc] # mypy wants no defaults
    assert (outcomes.count(True), UtmTemplate.objects.count()) == (3, 3)
    response = create(api)
    assert (response.status_code, response.json()["code"]) == (403, "quota_exceeded")


def test_members_share_templates_and_strangers_see_none(
    alice: NewAccount, stranger: NewAccount, strange_api: APIClient
) -> None:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    template = create(owner).json()["data"]["template"]
    address = f"/api/utm-templates/{template['_id']}"
    assert templates(strange_api) == []
    for response in (
        strange_api.get(address),
        strange_api.patch(address, {"name": "Mine"}),
        strange_api.delete(address),
        strange_api.post("/api/urls", {"originalUrl": URL, "utmTemplateId": template["_id"]}),
        strange_api.post(
            "/api/urls/import", {"content": f"originalUrl\n{URL}\n", "utmTemplateId": template["_id"]}
        ),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    add_member(workspace, stranger, Role.VIEWER)
    viewer = key_client_in(workspace, stranger.api_key)
    assert templates(viewer) == [template]
    for response in (
        create(viewer, name="Mine"),
        viewer.patch(address, {"name": "Mine"}),
        viewer.delete(address),
    ):
        assert (response.status_code, response.json()["code"]) == (403, "role_required")
    assert templates(owner) == [template]


def test_templates_and_their_history_are_deleted_with_their_workspace(alice: NewAccount) -> None:
    workspace = team(alice)
    create(key_client_in(workspace, alice.api_key))
    delete_workspace(workspace=workspace, actor=alice.user)
    assert UtmTemplate.objects.count() == 0
    assert Change.objects.filter(owner_id=workspace.pk).count() == 0


def test_a_link_gets_the_values_of_a_template_and_may_replace_them(
    api: APIClient, visitor: Client, template: dict[str, Any]
) -> None:
    for sent, expected in (
        ({}, {"source": "newsletter", "medium": "email"}),
        ({"utm": None}, {"source": "newsletter", "medium": "email"}),
        # Only a value that the template has and limits is required.
        ({"utm": {"source": "shop", "medium": None, "term": "x"}}, {"source": "shop", "term": "x"}),
        ({"utm": {"campaign": "spring"}}, {"source": "newsletter", "medium": "email", "campaign": "spring"}),
    ):
        response = api.post("/api/urls", {"originalUrl": URL, "utmTemplateId": template["_id"], **sent})
        assert response.status_code == 201, response.content
        link = response.json()["data"]["url"]
        assert whole(api, link)["utm"] == expected
    location = visitor.get(f"/{link['shortCode']}")["Location"]
    assert location == f"{URL}?utm_source=newsletter&utm_medium=email&utm_campaign=spring"


def test_other_values_are_refused_alike_everywhere(
    api: APIClient, make_link: MakeLink, template: dict[str, Any]
) -> None:
    link = make_link(utm={"source": "kept"})
    bad = {"utm": {"source": "Newsletter"}, "utmTemplateId": template["_id"]}
    for response in (
        api.post("/api/urls", {"originalUrl": URL, **bad}),
        api.put(f"/api/urls/{link['_id']}", bad),
    ):
        assert (response.status_code, response.json()["errors"]) == (400, [REFUSED])
    content = f"originalUrl,utmSource\n{URL},Newsletter\n{URL},shop\n{URL},\n"
    for verdict in (
        create_many(api, [{"originalUrl": URL, **bad}])[0],
        update(api, {"_id": link["_id"], **bad})[0],
        update_all(api, [link["_id"]], bad)[0],
        imported(api, content, dry_run=True, utmTemplateId=template["_id"])[0],
        imported(api, content, utmTemplateId=template["_id"])[0],
    ):
        assert (verdict["status"], verdict["errors"]) == (400, [REFUSED])
    assert whole(api, link)["utm"] == {"source": "kept"}
    assert list(Link.objects.exclude(public_id=link["_id"]).order_by("pk").values_list("utm", flat=True)) == [
        {"source": "shop", "medium": "email"},
        {"source": "newsletter", "medium": "email"},
    ]


def test_values_of_the_destination_itself_are_refused_if_visitors_would_get_them(
    api: APIClient, make_link: MakeLink, template: dict[str, Any]
) -> None:
    message = "The template Newsletter allows only spring as utm_campaign."
    named = {"utmTemplateId": template["_id"]}
    # The template's own utm_source replaces that of the destination.
    good = f"{URL}?utm_source=bad&utm_campaign=spring&utm_term=x#utm_campaign=summer"
    bad = f"{URL}?utm%5Fcampaign=sum%6Der"
    for field, fields in (
        ("originalUrl", {"originalUrl": bad}),
        ("targetUrl", {"originalUrl": URL, "targetUrl": bad}),
        ("expiredUrl", {"originalUrl": URL, "expiredUrl": bad}),
        ("split.1.url", {"originalUrl": URL, "split": [{"url": url, "weight": 1} for url in (good, bad)]}),
    ):
        refusal = [{"field": field, "code": "not_allowed", "message": message}]
        assert api.post("/api/urls", {**fields, **named}).json()["errors"] == refusal
        assert create_many(api, [{**fields, **named}])[0]["errors"] == refusal
        link = make_link(**fields)
        for identifier in (link["_id"], link["_id"].upper()):
            assert api.put(f"/api/urls/{identifier}", named).json()["errors"] == refusal
        assert update(api, {"_id": link["_id"], **named})[0]["errors"] == refusal
        assert (
            api.put(f"/api/urls/{link['_id']}", {**named, "utm": {"campaign": "spring"}}).status_code == 200
        )
    for is_dry in (True, False):
        [verdict] = imported(api, f"originalUrl\n{bad}\n", dry_run=is_dry, **named)
        assert verdict["errors"] == [{"field": "originalUrl", "code": "not_allowed", "message": message}]
    assert api.post("/api/urls", {"originalUrl": good, **named}).status_code == 201


def test_all_broken_rules_are_named_and_required_values_stay(
    api: APIClient, template: dict[str, Any]
) -> None:
    body = {"originalUrl": URL, "utmTemplateId": template["_id"]}
    response = api.post("/api/urls", {**body, "utm": {"source": "a", "campaign": "b"}})
    assert broken_rules(response) == [("utm.source", "not_allowed"), ("utm.campaign", "not_allowed")]
    for nothing in ("", None):
        response = api.post("/api/urls", {**body, "utm": {"source": nothing, "campaign": nothing}})
        assert broken_rules(response) == [("utm.source", "not_allowed")]
    assert api.post("/api/urls", {**body, "utm": {"medium": "", "campaign": None}}).status_code == 201


def test_an_update_shows_and_sets_the_parameters(
    api: APIClient, make_link: MakeLink, template: dict[str, Any]
) -> None:
    links = [make_link(utm={"source": "old", "content": "x"}) for _ in range(2)]
    changes = {"utmTemplateId": template["_id"], "utm": {"term": "y"}}
    expected = {"source": "newsletter", "medium": "email", "term": "y"}
    assert api.put(f"/api/urls/{links[0]['_id']}", changes).json()["data"]["url"]["utm"] == expected
    [verdict] = update(api, {"_id": links[1]["_id"], "utmTemplateId": template["_id"]})
    assert verdict["url"]["utm"] == {"source": "newsletter", "medium": "email"}
    assert [whole(api, link)["utm"] for link in links] == [expected, verdict["url"]["utm"]]


def test_an_unknown_template_is_404(api: APIClient, make_link: MakeLink, template: dict[str, Any]) -> None:
    link = make_link()
    for unknown in (UNKNOWN_ID, "x"):
        for response in (
            api.post("/api/urls", {"originalUrl": URL, "utmTemplateId": unknown}),
            api.put(f"/api/urls/{link['_id']}", {"utmTemplateId": unknown}),
            api.post("/api/urls/import", {"content": f"originalUrl\n{URL}\n", "utmTemplateId": unknown}),
        ):
            assert (response.status_code, response.json()["message"]) == (404, "UTM template not found.")
        [first, second] = create_many(
            api,
            [
                {"originalUrl": URL, "utmTemplateId": unknown},
                {"originalUrl": URL, "utmTemplateId": template["_id"]},
            ],
        )
        assert (first["status"], second["status"]) == (404, 201)
    for nothing in ({"utmTemplateId": None}, {}):
        assert api.post("/api/urls", {"originalUrl": URL, **nothing}).status_code == 201


def test_only_calls_with_a_template_read_it_and_once(
    api: APIClient, make_link: MakeLink, template: dict[str, Any]
) -> None:
    make_link()
    named = {"utmTemplateId": template["_id"]}
    counts = {}
    for name, extra in (("without", {}), ("with", named)):
        with CaptureQueriesContext(connection) as queries:
            assert api.post("/api/urls", {"originalUrl": URL, **extra}).status_code == 201
        with CaptureQueriesContext(connection) as many:
            create_many(api, [{"originalUrl": URL, **extra} for _ in range(10)])
        counts[name] = (len(queries), len(many))
        assert any("links_utmtemplate" in query["sql"] for query in queries) is bool(extra)
    assert counts["with"] == (counts["without"][0] + 1, counts["without"][1] + 1)
