"""Deleted links come back for seven days as they were, and nobody else gets their codes meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from analytics.counting import retention
from bans.services import ban_host
from domains.models import Domain
from links.models import DeletedLink, Link, Route
from links.operators import ban_link
from qrcodes.models import DeletedQrCode
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.clicks import drain
from testing.links.calls import address, whole
from tests.links.history.recorded import FORMER
from tests.links.history.undeletion import delete, pass_days, rows_of, undelete

MakeLink = Callable[..., dict[str, Any]]


def test_a_link_comes_back_with_every_field_and_its_totals(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    others = [make_link(), make_link(tags=["one"])]
    link = make_link(**FORMER, password="secret", domainId=str(brand.public_id))
    tables = ("links_code", "links_clickcounter", "links_searchable", "links_tagtotals", "links_route")
    shown, before = whole(api, link), {table: rows_of(table) for table in tables}
    stored = Link.objects.values().get(public_id=link["_id"])
    stats = api.get("/api/urls/stats").json()
    delete(api, link)
    assert api.get(address(link)).status_code == 404
    response = undelete(api, link)
    assert response.status_code == 200, response.json()
    back = whole(api, link)
    assert response.json()["data"]["url"] == back
    assert response["ETag"] == api.get(address(link))["ETag"]
    assert back["updatedAt"] > shown["updatedAt"]
    assert {**back, "updatedAt": None} == {**shown, "updatedAt": None}
    assert Link.objects.values().get(public_id=link["_id"]) | {"updated_at": None} == stored | {
        "updated_at": None
    }
    assert {table: rows_of(table) for table in tables} == before
    assert api.get("/api/urls/stats").json() == stats
    assert DeletedLink.objects.count() == 0
    assert all(api.get(address(other)).status_code == 200 for other in others)


def test_a_link_comes_back_with_its_codes(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(customCode="spring")
    assert api.put(address(link), {"customCode": "summer"}).status_code == 200
    codes = (link["shortCode"], "spring", "summer")
    delete(api, link)
    assert [visitor.get(f"/{code}").status_code for code in codes] == [404] * 3
    assert undelete(api, link).status_code == 200
    assert [visitor.get(f"/{code}").status_code for code in codes] == [302] * 3


def test_a_link_comes_back_with_its_clicks_and_reports(
    api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link, other = make_link(), make_link()
    for code in (link["shortCode"], link["shortCode"], other["shortCode"]):
        visitor.get(f"/{code}")
    drain()
    report = api.get(f"/api/analytics/{link['_id']}").json()
    # Counted while the link is deleted.
    visitor.get(f"/{link['shortCode']}")
    delete(api, link)
    drain()
    retention.delete_clicks_of_deleted_links()
    assert undelete(api, link).status_code == 200
    retention.delete_clicks_of_deleted_links()
    after = api.get(f"/api/analytics/{link['_id']}").json()
    assert (report["data"]["totalClicks"], after["data"]["totalClicks"]) == (2, 3)
    assert whole(api, link)["clickCount"] == 3
    assert api.get("/api/urls/stats").json()["totalClicks"] == 4
    visitor.get(f"/{link['shortCode']}")
    drain()
    assert whole(api, link)["clickCount"] == 4


def test_a_link_comes_back_with_its_qr_codes(
    api: APIClient, make_link: MakeLink, anonymous: APIClient
) -> None:
    link = make_link()
    deleted = api.post("/api/qr-codes", {"urlId": link["_id"], "size": 200}).json()["data"]["qrCode"]
    code = api.post("/api/qr-codes", {"urlId": link["_id"]}).json()["data"]["qrCode"]
    assert api.delete(f"/api/qr-codes/{deleted['_id']}").status_code == 200
    row, image = rows_of("qrcodes_qrcode"), anonymous.get(code["imageUrl"])
    delete(api, link)
    assert anonymous.get(code["imageUrl"]).status_code == 404
    assert api.get("/api/qr-codes").json()["data"]["qrCodes"] == []
    assert undelete(api, link).status_code == 200
    assert rows_of("qrcodes_qrcode") == row
    assert anonymous.get(code["imageUrl"]).content == image.content
    assert DeletedQrCode.objects.count() == 0


def test_a_ban_and_the_claims_of_visitors_stay(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(restrictions={"maxClicksPerVisitor": 1})
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    delete(api, link)
    assert undelete(api, link).status_code == 200
    assert visitor.get(f"/{link['shortCode']}").status_code == 403
    ban_link(link=Link.objects.get())
    delete(api, link)
    assert undelete(api, link).status_code == 200
    assert visitor.get(f"/{link['shortCode']}").status_code == 410


def test_nobody_else_gets_a_code_in_between(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    delete(api, link)
    body = {"originalUrl": "https://evil.example/", "customCode": "spring"}
    for _ in range(2):
        assert strange_api.post("/api/urls", body).json()["code"] == "code_taken"
        own = {"originalUrl": "https://evil.example/", "customCode": link["shortCode"]}
        assert strange_api.post("/api/urls", own).json()["code"] == "code_taken"
        pass_days(6)
    pass_days(-12)
    assert undelete(api, link).status_code == 200


def test_deleting_the_account_leaves_nothing(alice: NewAccount, api: APIClient, make_link: MakeLink) -> None:
    link, _ = make_link(rules=FORMER["rules"]), make_link(rules=FORMER["rules"])
    api.post("/api/qr-codes", {"urlId": link["_id"]})
    delete(api, link)
    alice.user.delete()
    assert [model.__name__ for model in (DeletedLink, DeletedQrCode, Route) if model.objects.exists()] == []


def test_a_link_of_a_team_comes_back_without_its_deleted_creator(
    alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    body = {"originalUrl": "https://example.com/"}
    own, other = key_client_in(workspace, alice.api_key), key_client_in(workspace, stranger.api_key)
    links = [client.post("/api/urls", body).json()["data"]["url"] for client in (own, other)]
    delete(own, *links)
    stranger.user.delete()
    restored = [undelete(own, link).json()["data"]["url"]["creator"] for link in links]
    assert [creator and creator["email"] for creator in restored] == ["alice@example.com", None]
    creators = Link.objects.filter(owner=workspace).order_by("pk").values_list("creator", flat=True)
    assert list(creators) == [alice.user.pk, None]
    shown = [whole(own, link)["creator"] for link in links]
    assert shown == [shown[0], None]
    assert shown[0]["_id"] == str(alice.user.public_id)


def test_a_link_that_was_deleted_before_a_column_was_added_has_its_default(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(title="a")
    delete(api, link)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_deletedlink SET link = link - '{creator_id,forward_query}'::text[]")
    assert undelete(api, link).status_code == 200
    assert (whole(api, link)["title"], whole(api, link)["forwardQuery"]) == ("a", False)


def test_quotas_and_caps_do_not_refuse_what_existed(
    api: APIClient, make_link: MakeLink, settings: Settings
) -> None:
    settings.LINK_QUOTAS = {**settings.LINK_QUOTAS, "pro": 2}
    settings.QR_CODES_PER_ACCOUNT = 1
    link, other = make_link(), make_link()
    assert api.post("/api/qr-codes", {"urlId": link["_id"]}).status_code == 201
    delete(api, link)
    assert api.post("/api/qr-codes", {"urlId": other["_id"]}).status_code == 201
    assert api.post("/api/urls", {"originalUrl": "https://example.com/"}).status_code == 429
    assert undelete(api, link).status_code == 200
    assert len(api.get("/api/qr-codes").json()["data"]["qrCodes"]) == 2


def test_a_link_comes_back_expired_banned_or_on_an_inactive_domain(
    api: APIClient, make_link: MakeLink, brand: Domain, visitor: Client
) -> None:
    expired, banned = make_link(), make_link("https://evil.example/")
    branded = make_link(domainId=str(brand.public_id))
    Link.objects.filter(public_id=expired["_id"]).update(expires_at="2020-01-01T00:00:00Z")
    delete(api, expired, banned, branded)
    ban_host(host="evil.example")
    Domain.objects.update(status="inactive")
    assert [undelete(api, link).status_code for link in (expired, banned, branded)] == [200] * 3
    assert [visitor.get(f"/{link['shortCode']}").status_code for link in (expired, banned)] == [410, 410]
    assert whole(api, branded)["domainId"] == str(brand.public_id)


def test_a_domain_that_was_added_again_is_another_one(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    link = make_link(domainId=str(brand.public_id), customCode="spring")
    delete(api, link)
    assert api.delete(f"/api/domains/{brand.public_id}").status_code == 200
    Domain.objects.create(owner_id=brand.owner_id, domain="brand.example", host=brand.host, status="active")
    assert undelete(api, link).status_code == 200
    assert (whole(api, link)["domainId"], whole(api, link)["customCode"]) == ("base", "spring")
