"""Moving links to another workspace, with their related objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Change, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from common.host import cache_versions
from links.models import Code, Link
from links.selectors import totals
from testing.accounts.workspaces import add_member, key_client_in
from testing.analytics.clicks import drain
from testing.links.calls import whole
from testing.links.many import UNKNOWN_ID, URL
from tests.links.moving.moves import inconsistencies, move, reasons

MakeLink = Callable[..., dict[str, Any]]


def test_a_moved_link_keeps_everything(
    api: APIClient, there: APIClient, marketing: Workspace, make_link: MakeLink, visitor: Client
) -> None:
    former = Workspace.objects.get(account__isnull=False)
    link = make_link(customCode="spring", title="Sale", tags=["x", "Y"], utm={"source": "mail"})
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})
    codes = set(Code.objects.values_list("code", "kind"))
    for code in ("spring", "summer", link["shortCode"]):
        assert visitor.get(f"/{code}").status_code == 302
    assert drain() == 3
    paths = [f"/api/analytics/{link['_id']}{part}" for part in ("", "/devices", "/geographic", "/clicks")]
    before, reports = whole(api, link), [api.get(path).json() for path in paths]
    assert move(api, marketing, link["_id"]) == [
        {"index": 0, "success": True, "status": 200, "url": {"_id": link["_id"]}}
    ]
    after = whole(there, link)
    assert after["updatedAt"] > before["updatedAt"]
    assert after == {**before, "updatedAt": after["updatedAt"]}
    assert [there.get(path).json() for path in paths] == reports
    assert set(Code.objects.values_list("code", "kind")) == codes
    for code in ("spring", "summer", link["shortCode"]):
        assert visitor.get(f"/{code}").status_code == 302
    assert drain() == 3
    assert (totals(former), totals(marketing)) == ((0, 0, 0), (1, 1, 6))
    assert inconsistencies() == []


def test_the_former_workspace_knows_it_no_more(
    api: APIClient, marketing: Workspace, make_link: MakeLink
) -> None:
    link = make_link()
    move(api, marketing, link["_id"])
    unknown = api.get(f"/api/urls/{UNKNOWN_ID}")
    assert api.get(f"/api/urls/{link['_id']}").json() == unknown.json()
    assert api.get("/api/urls").json()["data"]["urls"] == []
    assert reasons(move(api, marketing, link["_id"])) == [(404, "not_found")]


def test_clicks_that_were_not_counted_yet_count_for_the_new_owner(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink, visitor: Client
) -> None:
    plain, capped = make_link(), make_link(restrictions={"maxClicks": 5})
    for link in (plain, capped):
        assert visitor.get(f"/{link['shortCode']}").status_code == 302
    move(api, marketing, plain["_id"], capped["_id"])
    assert visitor.get(f"/{capped['shortCode']}").status_code == 302
    assert drain() > 0
    assert (totals(alice.workspace), totals(marketing)) == ((0, 0, 0), (2, 2, 3))
    assert inconsistencies() == []


def creators_of(api: APIClient, link: dict[str, Any]) -> list[str | None]:
    """The address of its creator, read alone and in a list."""
    [row] = [row for row in api.get("/api/urls").json()["data"]["urls"] if row["_id"] == link["_id"]]
    return [creator and creator["email"] for creator in (whole(api, link)["creator"], row["creator"])]


def test_creators_remain(
    api: APIClient, there: APIClient, alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    """The link of a personal workspace has no stored creator, because that is its account."""
    link = api.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    add_member(marketing, stranger, Role.EDITOR)
    colleague = key_client_in(marketing, stranger.api_key)
    move(api, marketing, link["_id"])
    assert whole(colleague, link)["creator"]["email"] == "alice@example.com"
    move(there, alice.workspace, link["_id"])
    assert Link.objects.get().creator is None
    shared = colleague.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    assert creators_of(there, shared) == ["mallory@example.com"] * 2
    move(there, alice.workspace, shared["_id"])
    assert creators_of(api, shared) == ["mallory@example.com"] * 2


def test_without_its_creator_a_link_is_of_the_account_whose_personal_workspace_it_joins(
    api: APIClient, there: APIClient, alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.EDITOR)
    colleague = key_client_in(marketing, stranger.api_key)
    link = colleague.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    stranger.user.delete()
    assert creators_of(there, link) == [None, None]
    move(there, alice.workspace, link["_id"])
    assert creators_of(api, link) == ["alice@example.com"] * 2
    # As with each link of the personal workspace, the creator remains in the next one.
    move(api, marketing, link["_id"])
    assert creators_of(there, link) == ["alice@example.com"] * 2


def test_totals_of_filtered_lists_include_moved_links(
    api: APIClient, there: APIClient, marketing: Workspace, make_link: MakeLink
) -> None:
    """A link that moves in may be older than the counted ones."""
    old = [make_link(title="Stock", tags=["x"]) for _ in range(2)]
    for _ in range(2):
        there.post("/api/urls", {"originalUrl": URL, "title": "Stock", "tags": ["x"]})

    def shown(client: APIClient) -> list[int]:
        queries = ({"search": "stock"}, {"search": "stock", "tags": "x"}, {"tags": "x"}, {})
        pages = [client.get("/api/urls", query).json()["data"] for query in queries]
        assert [page["pagination"]["total"] for page in pages] == [len(page["urls"]) for page in pages]
        return [len(page["urls"]) for page in pages]

    assert (shown(api), shown(there)) == ([2] * 4, [2] * 4)
    move(api, marketing, old[0]["_id"])
    assert (shown(api), shown(there)) == ([1] * 4, [3] * 4)
    move(api, marketing, old[1]["_id"])
    assert (shown(api), shown(there)) == ([0] * 4, [4] * 4)


def test_each_workspace_has_its_own_part_of_the_history(
    api: APIClient, there: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink
) -> None:
    link = make_link(title="Sale")
    api.put(f"/api/urls/{link['_id']}", {"title": "Spring sale"})
    move(api, marketing, link["_id"])
    there.put(f"/api/urls/{link['_id']}", {"title": "Summer sale"})
    pages = [
        client.get(f"/api/urls/{link['_id']}/history").json()["data"]["changes"] for client in (api, there)
    ]
    assert [[change["action"] for change in page] for page in pages] == [
        ["link.moved_out", "link.updated"],
        ["link.updated", "link.moved_in"],
    ]
    [moved_out, moved_in] = [pages[0][0], pages[1][1]]
    assert (moved_out["before"]["title"], moved_out["after"]) == ("Spring sale", {})
    assert moved_in["after"] == moved_out["before"]
    assert {change["actor"]["email"] for page in pages for change in page} == {"alice@example.com"}
    stored = Change.objects.filter(object_id=link["_id"], action__startswith="link.moved")
    assert dict(stored.values_list("action", "owner")) == {
        "link.moved_out": alice.user.pk,
        "link.moved_in": marketing.pk,
    }
    # Neither workspace learns the id of the other.
    assert str(marketing.public_id) not in str(pages[0])
    assert str(alice.user.public_id) not in str([change | {"actor": None} for change in pages[1]])


def test_caches_of_all_workers_are_renewed(api: APIClient, marketing: Workspace, make_link: MakeLink) -> None:
    """A ban of one of the two workspaces may decide where the code leads."""
    code = make_link()["shortCode"]
    counter = cache_versions.counter_of_code(code)
    before = cache_versions.counters()[counter]
    move(api, marketing, str(Link.objects.get().public_id))
    assert cache_versions.counters()[counter] != before


def test_the_number_of_statements_does_not_depend_on_the_number_of_links(
    api: APIClient, marketing: Workspace, make_link: MakeLink
) -> None:
    ids = [make_link(tags=["x"])["_id"] for _ in range(12)]
    counts = []
    for part in (ids[:1], ids[1:]):
        with CaptureQueriesContext(connection) as queries:
            assert set(reasons(move(api, marketing, *part))) == {(200, None)}
        counts.append(len(queries))
    assert counts[0] == counts[1]
