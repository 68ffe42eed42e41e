"""Shares of reports through the API: who may share what, and what is stored about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from rest_framework.test import APIClient

from accounts.models import Change, Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from accounts.workspaces import delete_workspace
from analytics.models import EndedShare, Share
from analytics.shares import services
from domains.models import Domain
from links.models import DeletedLink, Link, SavedView
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.shared_reports import create_view, reader, share
from testing.links.many import UNKNOWN_ID
from testing.refusals import broken_rules
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]
LATER = "2100-01-01T00:00:00Z"


def listed(api: APIClient) -> list[dict[str, Any]]:
    response = api.get("/api/analytics/shares")
    assert response.status_code == 200
    found: list[dict[str, Any]] = response.json()["data"]["shares"]
    return found


def test_shares_are_listed_with_their_names_in_four_queries(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    link, view = make_link(title="Flyer"), create_view(api, tags="spring", period="90d")
    untitled = make_link()
    _, first = share(api, viewId=view, expiresAt=LATER, password="open sesame")
    share(api, urlId=link["_id"], period="30d", noIndex=False)
    share(api, urlId=untitled["_id"])
    with django_assert_num_queries(5):
        found = listed(api)
    assert [each["name"] for each in found] == [untitled["shortUrl"], "Flyer", "Spring campaign"]
    assert found[2] == first == api.get(f"/api/analytics/shares/{first['_id']}").json()["data"]["share"]
    assert first == {
        "_id": first["_id"],
        "name": "Spring campaign",
        "viewId": view,
        "urlId": None,
        "period": None,
        "timezone": None,
        "hasPassword": True,
        "expiresAt": LATER,
        "noIndex": True,
        "status": "active",
        "createdAt": first["createdAt"],
        "updatedAt": first["updatedAt"],
    }
    names = ("urlId", "period", "hasPassword", "noIndex")
    assert [found[1][name] for name in names] == [link["_id"], "30d", False, False]


def test_the_address_is_shown_once_and_stored_as_a_digest(api: APIClient, make_link: MakeLink) -> None:
    path, shared = share(api, urlId=make_link()["_id"], password="open sesame")
    token = path.removeprefix("/reports/")
    assert len(token) == 32
    address = f"/api/analytics/shares/{shared['_id']}"
    for response in (
        api.get(address),
        api.get("/api/analytics/shares"),
        api.patch(address, {"noIndex": False}),
    ):
        assert token not in response.content.decode()
    [stored] = Share.objects.values()
    assert token.encode() not in bytes(stored["digest"])
    assert stored["password"].startswith("argon2")
    # What was read can be sent back.
    read = api.get(address).json()["data"]["share"]
    assert api.patch(address, read).status_code == 200
    assert reader().get(path).status_code == 401


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({}, ("viewId", "one_of")),
        ({"viewId": UNKNOWN_ID, "urlId": UNKNOWN_ID}, ("viewId", "one_of")),
        ({"viewId": "x"}, ("viewId", "id")),
        ({"urlId": 5}, ("urlId", "invalid")),
        ({"urlId": "LINK", "period": "31d"}, ("period", "invalid_choice")),
        ({"urlId": "LINK", "timezone": "Mars"}, ("timezone", "zone")),
        ({"urlId": "LINK", "password": ""}, ("password", "blank")),
        ({"urlId": "LINK", "password": "x" * 129}, ("password", "max_length")),
        ({"urlId": "LINK", "expiresAt": "2001-01-01"}, ("expiresAt", "past")),
        ({"urlId": "LINK", "expiresAt": "soon"}, ("expiresAt", "invalid")),
        ({"urlId": "LINK", "noIndex": "yes"}, ("noIndex", "invalid")),
        ({"urlId": "LINK", "pasword": "x"}, ("pasword", "unknown_field")),
        # Ignoring them would show anybody what was meant to be left out.
        ({"urlId": "LINK", "country": "DE"}, ("country", "unknown_field")),
        ({"urlId": "LINK", "startDate": "2030-01-01"}, ("startDate", "unknown_field")),
        ({"viewId": "LIST"}, ("viewId", "no_report")),
        ({"viewId": "INVALID"}, ("viewId", "invalid_report")),
    ],
    ids=str,
)
def test_bad_shares_are_refused(
    api: APIClient, make_link: MakeLink, fields: dict[str, Any], broken: tuple[str, str]
) -> None:
    without = api.post("/api/views", {"name": "List", "filters": {}}).json()["data"]["view"]["_id"]
    known = {"LINK": make_link()["_id"], "LIST": without, "INVALID": create_view(api)}
    SavedView.objects.filter(public_id=known["INVALID"]).update(report={"country": "Atlantis"})
    sent = {
        name: known.get(value, value) if isinstance(value, str) else value for name, value in fields.items()
    }
    assert broken_rules(api.post("/api/analytics/shares", sent)) == [broken]
    assert listed(api) == []


def test_a_view_keeps_only_reports_that_answer(api: APIClient, strange_api: APIClient) -> None:
    body = {"domain": "links.example"}
    hers = strange_api.post("/api/domains", body).json()["data"]["domain"]["_id"]
    view = create_view(api)
    for report, field in (
        ({"country": "XX"}, "country"),
        ({"country": ""}, "country"),
        ({"period": "7d", "startDate": "2030-01-01"}, "period"),
        ({"startDate": "2030-02-01", "endDate": "2030-01-01"}, "endDate"),
        ({"interval": "hour", "period": "90d"}, "interval"),
        ({"period": "all", "compare": "year"}, "compare"),
        ({"domainId": "zzz"}, "domainId"),
        ({"domainId": hers}, "domainId"),
    ):
        for response in (
            api.post("/api/views", {"name": "New", "report": report}),
            api.patch(f"/api/views/{view}", {"report": report}),
        ):
            assert broken_rules(response) == [(f"report.{field}", "invalid_report")], report
    created = api.post("/api/views", {"name": "New", "report": {"domainId": "base", "period": "7d"}})
    assert created.json()["data"]["view"]["filters"] == {}


def test_a_share_whose_report_is_refused_is_not_active(
    api: APIClient, django_assert_num_queries: Any
) -> None:
    domain = api.post("/api/domains", {"domain": "links.example"}).json()["data"]["domain"]["_id"]
    by_hour = create_view(api, "Hours", interval="hour", period="7d")
    path, first = share(api, viewId=by_hour)
    assert broken_rules(api.post("/api/analytics/shares", {"viewId": by_hour, "period": "90d"})) == [
        ("viewId", "invalid_report")
    ]
    address = f"/api/analytics/shares/{first['_id']}"
    assert broken_rules(api.patch(address, {"period": "90d"})) == [("viewId", "invalid_report")]
    of_domain, _ = share(api, viewId=create_view(api, "Domain", domainId=domain))
    assert [each["status"] for each in listed(api)] == ["active", "active"]
    SavedView.objects.filter(public_id=by_hour).update(report={"startDate": "2020-01-01", "interval": "hour"})
    assert api.delete(f"/api/domains/{domain}").status_code == 200
    assert [each["status"] for each in listed(api)] == ["unavailable", "unavailable"]
    assert [reader().get(address).status_code for address in (path, of_domain)] == [409, 409]


def test_a_share_keeps_its_subject(api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link()["_id"], make_link()["_id"]
    _, shared = share(api, urlId=link)
    address = f"/api/analytics/shares/{shared['_id']}"
    assert api.patch(address, {**shared, "noIndex": False}).status_code == 200
    view = create_view(api)
    for sent, field in (
        ({"urlId": other}, "urlId"),
        ({"urlId": None}, "urlId"),
        ({"viewId": view}, "viewId"),
    ):
        refused = api.patch(address, {**sent, "noIndex": True})
        assert (refused.status_code, broken_rules(refused)) == (400, [(field, "immutable")])
    assert api.get(address).json()["data"]["share"]["noIndex"] is False


def test_strangers_find_and_share_nothing(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link, view = make_link()["_id"], create_view(api)
    _, shared = share(api, urlId=link)
    address = f"/api/analytics/shares/{shared['_id']}"
    assert listed(strange_api) == []
    refused = [
        strange_api.get(address),
        strange_api.patch(address, {"password": None}),
        strange_api.delete(address),
        strange_api.post("/api/analytics/shares", {"urlId": link}),
        strange_api.post("/api/analytics/shares", {"viewId": view}),
        strange_api.post("/api/analytics/shares", {"urlId": UNKNOWN_ID}),
    ]
    assert [response.status_code for response in refused] == [404] * 6
    assert len(listed(api)) == 1


def test_a_key_shares_only_what_it_may_read(api: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
    link, view = make_link()["_id"], create_view(api)
    writer = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    response = writer.post("/api/analytics/shares", {"urlId": link})
    assert (response.status_code, response.json()["data"]) == (403, {"scope": "analytics:read"})
    both = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE, Scope.ANALYTICS_READ)
    _, of_view = share(both, viewId=view)
    _, of_link = share(both, urlId=link)
    # Neither can a key that may not read the report unlock it, or change what it shows. It can revoke it.
    _, locked = share(both, viewId=view, password="open sesame")
    address = f"/api/analytics/shares/{locked['_id']}"
    for path, changes in (
        *((address, changes) for changes in ({"password": None}, {"period": "all"}, {"expiresAt": None})),
        *((f"/api/views/{view}", {"report": report}) for report in ({"period": "all"}, None)),
    ):
        response = writer.patch(path, changes)
        assert (response.status_code, response.json()["data"]) == (403, {"scope": "analytics:read"})
    assert api.get(address).json()["data"]["share"] == locked
    kept = api.get(f"/api/views/{view}").json()["data"]["view"]["report"]
    assert writer.patch(f"/api/views/{view}", {"name": "Autumn", "report": kept}).status_code == 200
    assert both.patch(f"/api/views/{view}", {"report": {"period": "7d"}}).status_code == 200
    assert both.patch(address, {"period": "7d"}).status_code == 200
    assert writer.delete(address).status_code == 200
    # Keys that are limited to their own links, and to those of a domain.
    domain = Domain.objects.create(
        owner=alice.workspace, domain="x.example", host="x.example", status="active"
    )
    for limits in ({"only_own": True}, {"domain_id": domain.pk}):
        limited = scoped_client(alice.workspace, alice.user, **limits)
        assert listed(limited) == []
        for shared in (of_view, of_link):
            address = f"/api/analytics/shares/{shared['_id']}"
            assert [limited.get(address).status_code, limited.delete(address).status_code] == [404, 404]
        for subject in ({"urlId": link}, {"viewId": view}):
            assert limited.post("/api/analytics/shares", subject).status_code == 404
        made = limited.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
        _, own = share(limited, urlId=made["_id"])
        assert [each["_id"] for each in listed(limited)] == [own["_id"]]
    assert len(listed(api)) == 4


def test_the_history_has_every_change(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()["_id"]
    _, shared = share(api, urlId=link, password="open sesame", expiresAt=LATER)
    address = f"/api/analytics/shares/{shared['_id']}"
    api.patch(address, {"password": None, "period": "7d"})
    api.delete(address)
    changes = api.get("/api/audit", {"object": shared["_id"]}).json()["data"]["changes"]
    made = {
        "viewId": None,
        "urlId": link,
        "period": None,
        "timezone": None,
        "expiresAt": LATER,
        "noIndex": True,
    }
    assert [(change["action"], change["before"], change["after"]) for change in changes] == [
        ("share.deleted", {**made, "period": "7d"}, {}),
        ("share.updated", {"password": "set", "period": None}, {"password": "removed", "period": "7d"}),
        ("share.created", {}, {**made, "password": "set"}),
    ]
    assert {change["actor"] is not None for change in changes} == {True}


@pytest.mark.django_db(transaction=True)
def test_a_workspace_has_a_limited_number_of_shares(
    api: APIClient, alice: NewAccount, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_SHARES", 3)
    link = make_link()["_id"]

    def attempt() -> bool:
        try:
            services.create_share(owner=alice.workspace, url_id=link)
        except services.TooManyShares:
            return False
        return True

    outcomes = at_once([attempt] * 6)
    assert (outcomes.count(True), Share.objects.count()) == (3, 3)
    response = api.post("/api/analytics/shares", {"urlId": link})
    assert (response.status_code, response.json()["code"]) == (403, "quota_exceeded")


def test_a_workspace_is_deleted_with_its_shares(alice: NewAccount, stranger: NewAccount) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    path, _ = share(
        key_client_in(workspace, alice.api_key), viewId=create_view(key_client_in(workspace, alice.api_key))
    )
    assert len(listed(key_client_in(workspace, stranger.api_key))) == 1
    refused = key_client_in(workspace, stranger.api_key).post("/api/analytics/shares", {"viewId": UNKNOWN_ID})
    assert (refused.status_code, refused.json()["code"]) == (403, "role_required")
    delete_workspace(workspace=workspace, actor=alice.user)
    assert (Share.objects.count(), Change.objects.filter(owner_id=workspace.pk).count()) == (0, 0)
    assert reader().get(path).status_code == 410


def test_housekeeping_deletes_what_can_show_nothing_again(api: APIClient, make_link: MakeLink) -> None:
    kept, deleted, purged, moved = (make_link()["_id"] for _ in range(4))
    view = create_view(api)
    paths = {
        name: share(api, **fields)[0]
        for name, fields in {
            "kept": {"urlId": kept, "expiresAt": LATER},
            "expired": {"urlId": kept, "expiresAt": LATER, "period": "7d"},
            "view": {"viewId": view},
            "deleted": {"urlId": deleted},
            "purged": {"urlId": purged},
            "moved": {"urlId": moved},
        }.items()
    }
    Share.objects.filter(period="7d").update(expires_at=Now() - timedelta(days=1))
    api.delete(f"/api/views/{view}")
    for link in (deleted, purged):
        assert api.delete(f"/api/urls/{link}").status_code == 200
    DeletedLink.objects.filter(public_id=purged).delete()
    other = api.post("/api/workspaces", {"name": "Other"}).json()["data"]["workspace"]["_id"]
    Link.objects.filter(public_id=moved).update(owner=Workspace.objects.get(public_id=other))
    services.delete_dead_shares()
    assert {str(url) for url in Share.objects.values_list("url_id", flat=True)} == {kept, deleted}
    assert [reader().get(path).status_code for path in paths.values()] == [200, 410, 410, 410, 410, 410]
    # For a while, the address of a deleted share is no mistyped one.
    EndedShare.objects.update(ended_at=Now() - timedelta(days=services.ENDED_DAYS))
    services.delete_dead_shares()
    assert [reader().get(path).status_code for path in paths.values()] == [200, 404, 404, 410, 404, 404]
