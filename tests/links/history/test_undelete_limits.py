"""Who undeletes a link, until when, and what stands in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting import retention
from analytics.models import DayTotal
from domains.models import Domain
from links.models import ClickCounter, Code, DeletedLink, Link, LinkBan, Route, VisitorClicks, VisitorKey
from links.operators import ban_link
from links.storage.deletion import purge_deleted_links
from qrcodes.models import DeletedQrCode, QrCode
from testing.accounts.accounts import bearer_client
from testing.analytics.clicks import drain
from testing.links.calls import address, whole
from testing.threads import at_once
from tests.links.history.recorded import FORMER
from tests.links.history.undeletion import delete, pass_days, rows_of, undelete

MakeLink = Callable[..., dict[str, Any]]


def codes_of(link_id: int) -> set[tuple[Any, ...]]:
    return set(Code.objects.filter(link=link_id).values_list("domain", "code", "kind", "owner", "held_until"))


def test_a_code_that_the_owner_has_used_again_is_409_until_it_is_free(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    shown = whole(api, link)
    delete(api, link)
    other = make_link("https://example.com/other", customCode="spring")
    before = rows_of("links_code")
    response = undelete(api, link)
    assert (response.status_code, response.json()["code"]) == (409, "code_taken")
    assert rows_of("links_code") == before
    assert api.get(address(link)).status_code == 404
    delete(api, other)
    assert undelete(api, link).status_code == 200
    assert {**whole(api, link), "updatedAt": None} == {**shown, "updatedAt": None}


def test_a_link_of_a_deleted_domain_moves_to_the_default_domain(
    api: APIClient, make_link: MakeLink, brand: Domain, visitor: Client
) -> None:
    make_link(customCode="taken")
    links = [make_link(domainId=str(brand.public_id), customCode=code) for code in ("free", "taken")]
    assert api.put(address(links[1]), {"customCode": "other"}).status_code == 200
    assert api.put(address(links[1]), {"customCode": "taken"}).status_code == 200
    delete(api, *links)
    assert api.delete(f"/api/domains/{brand.public_id}").status_code == 200
    assert [undelete(api, link).status_code for link in links] == [200, 200]
    shown = [whole(api, link) for link in links]
    assert [(url["domainId"], url["customCode"]) for url in shown] == [("base", "free"), ("base", None)]
    codes = (links[0]["shortCode"], "free", links[1]["shortCode"], "other")
    assert [visitor.get(f"/{code}").status_code for code in codes] == [302] * 4
    own = Link.objects.get(public_id=links[1]["_id"])
    assert codes_of(own.pk) == {
        (None, own.short_code, "short", None, None),
        (None, "other", "alias", None, None),
    }


def test_a_deletion_is_final_after_seven_days(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(restrictions={"maxClicksPerVisitor": 5}, rules=FORMER["rules"])
    api.post("/api/qr-codes", {"urlId": link["_id"]})
    visitor.get(f"/{link['shortCode']}")
    drain()
    ban_link(link=Link.objects.get())
    delete(api, link)
    pass_days(6)
    assert purge_deleted_links() == 0
    # One more, because the clock of the transaction stands still.
    pass_days(2)
    assert undelete(api, link).status_code == 404
    assert purge_deleted_links() == 1
    retention.delete_clicks_of_deleted_links()
    kept = (
        DeletedLink,
        DeletedQrCode,
        QrCode,
        Route,
        LinkBan,
        VisitorKey,
        VisitorClicks,
        DayTotal,
        ClickCounter,
    )
    assert [model.__name__ for model in kept if model.objects.exists()] == []
    assert undelete(api, link).status_code == 404
    # Its codes are still held for its owner.
    assert Code.objects.get().kind == "retired"


def test_only_the_owner_brings_a_deleted_link_back(
    api: APIClient, stranger: NewAccount, strange_api: APIClient, make_link: MakeLink
) -> None:
    link, existing = make_link(), make_link()
    delete(api, link)
    for client in (strange_api, bearer_client(stranger.user)):
        assert undelete(client, link).status_code == 404
    assert [undelete(api, {"_id": text}).status_code for text in (str(uuid4()), "x")] == [404, 404]
    assert undelete(api, existing).status_code == 404
    assert undelete(api, link).status_code == 200


def test_the_history_has_the_deletion_and_the_undeletion(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="a")
    delete(api, link)
    assert undelete(api, link).status_code == 200
    changes = api.get(f"{address(link)}/history").json()["data"]["changes"]
    assert [change["action"] for change in changes] == ["link.undeleted", "link.deleted"]
    assert (changes[0]["before"], changes[0]["after"]) == ({}, changes[1]["before"])


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_undeletions_one_succeeds(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    delete(api, link)
    statuses = at_once([lambda: undelete(api, link).status_code] * 4)
    assert sorted(statuses) == [200, 404, 404, 404]
    assert Code.objects.filter(link__public_id=link["_id"]).count() == 2
