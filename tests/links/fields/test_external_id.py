"""`externalId`: the id of a link in another system. At most one link of a workspace has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from links.models import Code, Link
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import key_client_in
from testing.links.calls import address, put, whole
from testing.links.many import create_many, imported, post_when_admitted, results
from testing.threads import at_once
from tests.links.exports import export, rows

MakeLink = Callable[..., dict[str, Any]]
TAKEN = (409, "external_id_taken", "Another URL of the workspace has this externalId.")


def refusal(verdict: dict[str, Any]) -> tuple[int, str, str]:
    return verdict["status"], verdict["code"], verdict["message"]


def refused(response: Any) -> tuple[int, str, str]:
    return response.status_code, response.json()["code"], response.json()["message"]


def links() -> dict[str, str | None]:
    """The title and the id of each link."""
    return dict(Link.objects.values_list("title", "external_id"))


def found(client: APIClient, external_id: str, **filters: Any) -> tuple[list[str], int]:
    response = client.get("/api/urls", {"externalId": external_id, **filters})
    assert response.status_code == 200, response.json()
    data = response.json()["data"]
    return [url["title"] for url in data["urls"]], data["pagination"]["total"]


def test_a_link_is_created_changed_and_shown_with_it(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(externalId="order 1")
    assert whole(api, link)["externalId"] == "order 1"
    assert whole(api, make_link())["externalId"] is None
    assert put(api, link, externalId="x" * 100).json()["data"]["url"]["externalId"] == "x" * 100
    assert put(api, link, externalId=None).json()["data"]["url"]["externalId"] is None
    assert whole(api, link)["externalId"] is None


@pytest.mark.parametrize(("value", "code"), [("", "blank"), ("x" * 101, "max_length"), (7, "invalid")])
def test_another_value_is_400(value: Any, code: str, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    for response in (
        api.post("/api/urls", {"originalUrl": "https://example.com/", "externalId": value}),
        api.put(address(link), {"externalId": value}),
    ):
        assert response.status_code == 400
        assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
            ("externalId", code)
        ]
    assert Link.objects.get().external_id is None


def test_a_taken_one_is_409_and_changes_nothing(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="first", externalId="1")
    other = make_link(title="other", externalId="2", customCode="other")
    body = {"originalUrl": "https://example.com/", "externalId": "1", "customCode": "free"}
    assert refused(api.post("/api/urls", body)) == TAKEN
    assert refused(api.put(address(other), {"externalId": "1"})) == TAKEN
    assert (
        refused(api.put(address(other), {"externalId": "1", "customCode": "free", "title": "new"})) == TAKEN
    )
    assert links() == {"first": "1", "other": "2"}
    assert not Code.objects.filter(code="free").exists()
    assert put(api, other, externalId="2", title="same").status_code == 200


def test_a_deleted_link_gives_it_up(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="deleted", externalId="1")
    assert api.delete(address(link)).status_code == 200
    other = make_link(title="other", externalId="1")
    assert refused(api.post(f"{address(link)}/undelete")) == TAKEN
    assert links() == {"other": "1"}
    put(api, other, externalId=None)
    assert api.post(f"{address(link)}/undelete").status_code == 200
    assert links() == {"other": None, "deleted": "1"}


def test_a_former_one_can_be_restored_unless_it_is_taken(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="first", externalId="1")
    put(api, link, externalId="2")
    [change] = api.get(f"{address(link)}/history").json()["data"]["changes"]
    assert (change["before"], change["after"]) == ({"externalId": "1"}, {"externalId": "2"})
    other = make_link(title="other", externalId="1")
    path = f"{address(link)}/history/{change['_id']}/restore"
    assert refused(api.post(path)) == TAKEN
    put(api, other, externalId=None)
    assert api.post(path).status_code == 200
    assert links() == {"first": "1", "other": None}


def test_another_workspace_may_have_the_same(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    make_link(title="mine", externalId="1")
    body = {"originalUrl": "https://example.com/", "title": "theirs", "externalId": "1"}
    assert strange_api.post("/api/urls", body).status_code == 201
    assert create_many(strange_api, [{**body, "externalId": "2"}])[0]["status"] == 201
    assert found(api, "1") == (["mine"], 1)
    assert found(strange_api, "1") == (["theirs"], 1)
    assert found(api, "2") == ([], 0)


def test_the_filter_finds_one_link_in_the_same_queries(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        make_link(title=f"link {number}", externalId=str(number), tags=["sale"], isActive=number != 2)
    assert found(api, "1") == (["link 1"], 1)
    assert found(api, "1", tags="sale", search="link", sortBy="title") == (["link 1"], 1)
    assert found(api, "2", isActive="true") == ([], 0)
    assert found(api, "2", page=2) == ([], 1)
    # The caller, the id, the matches and their rows.
    with django_assert_num_queries(4):
        found(api, "1")


def test_of_a_bulk_creation_only_the_taken_ones_are_refused(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="first", externalId="1")
    verdicts = create_many(
        api,
        [
            {"originalUrl": "https://example.com/", "title": title, "externalId": external_id}
            for title, external_id in (("a", "1"), ("b", "2"), ("c", "2"), ("d", None), ("e", None))
        ],
    )
    assert [verdict["status"] for verdict in verdicts] == [409, 201, 409, 201, 201]
    assert [refusal(verdicts[index]) for index in (0, 2)] == [TAKEN, TAKEN]
    assert links() == {"first": "1", "b": "2", "d": None, "e": None}


def test_of_a_bulk_update_only_the_taken_ones_are_refused(api: APIClient, make_link: MakeLink) -> None:
    made = {title: make_link(title=title, externalId=title) for title in ("a", "b", "c", "d")}
    changes = {"a": "b", "b": "new", "c": "new", "d": "d"}
    body = [{"_id": made[title]["_id"], "externalId": value} for title, value in changes.items()]
    verdicts = results(api.post("/api/urls/bulk-update", {"urls": body}), "updated")
    assert [verdict["status"] for verdict in verdicts] == [409, 200, 409, 200]
    assert [refusal(verdicts[index]) for index in (0, 2)] == [TAKEN, TAKEN]
    assert links() == {"a": "a", "b": "new", "c": "c", "d": "d"}


def test_files_have_a_column_that_an_import_reads(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="first", customCode="spring", externalId="=1")
    make_link(title="other")
    assert [row["externalId"] for row in rows(api, sortBy="createdAt")] == ["", "'=1"]
    assert [row["title"] for row in rows(api, externalId="=1")] == ["first"]
    file = export(api, externalId="=1")
    assert api.delete(address(link)).status_code == 200
    assert [verdict["status"] for verdict in imported(api, file)] == [201]
    assert links() == {"first": "=1", "other": None}


@pytest.mark.parametrize("dry_run", [True, False])
def test_of_an_import_only_the_taken_ones_are_refused(
    dry_run: bool, api: APIClient, make_link: MakeLink
) -> None:
    make_link(title="first", externalId="1")
    file = "originalUrl,title,externalId\n" + "".join(
        f"https://example.com/,{title},{external_id}\n" for title, external_id in ("a1", "b2", "c2", "d ")
    )
    verdicts = imported(api, file, dry_run=dry_run)
    assert [verdict["status"] for verdict in verdicts] == [409, 201, 409, 201]
    assert [refusal(verdicts[index]) for index in (0, 2)] == [TAKEN, TAKEN]
    assert links() == ({"first": "1"} if dry_run else {"first": "1", "b": "2", "d": " "})


def test_of_a_move_only_the_taken_ones_are_refused(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink
) -> None:
    there = key_client_in(marketing, alice.api_key)
    assert create_many(there, [{"originalUrl": "https://example.com/", "title": "there", "externalId": "1"}])
    made = [
        make_link(title=title, externalId=external_id)
        for title, external_id in (("a", "1"), ("b", "2"), ("c", None))
    ]
    body = {"ids": [link["_id"] for link in made], "workspaceId": str(marketing.public_id)}
    verdicts = results(api.post("/api/urls/move", body), "moved")
    assert [verdict["status"] for verdict in verdicts] == [409, 200, 200]
    assert refusal(verdicts[0]) == TAKEN
    assert found(there, "1") == (["there"], 1)
    assert found(there, "2") == (["b"], 1)
    assert found(api, "1") == (["a"], 1)


@pytest.mark.django_db(transaction=True)
def test_of_parallel_writers_one_gets_it(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink
) -> None:
    """Codes and ids in opposite orders, so that some of the transactions wait for each other in a circle."""
    ids, codes = [f"id{number}" for number in range(6)], [f"code{number}" for number in range(6)]
    made = [make_link() for _ in range(4)]
    moved = create_many(
        key_client_in(marketing, alice.api_key),
        [{"originalUrl": "https://example.com/", "externalId": external_id} for external_id in ids],
    )

    def body(number: int) -> dict[str, Any]:
        return {"originalUrl": "https://example.com/", "externalId": ids[number], "customCode": codes[number]}

    def single(number: int) -> list[int]:
        return [api.post("/api/urls", body(number)).status_code]

    def update(index: int, number: int) -> list[int]:
        change = {"externalId": ids[number], "customCode": codes[number]}
        return [api.put(address(made[index]), change).status_code]

    def many(path: str, rows: list[dict[str, Any]], key: str = "urls", **further: Any) -> list[int]:
        response = post_when_admitted(api, path, {key: rows, **further})
        assert response.status_code == 200, response.json()
        return [verdict["status"] for verdict in response.json()["data"]["results"]]

    def move() -> list[int]:
        there = key_client_in(marketing, alice.api_key)
        target = {
            "ids": [verdict["url"]["_id"] for verdict in moved],
            "workspaceId": str(alice.workspace.public_id),
        }
        response = post_when_admitted(there, "/api/urls/move", target)
        assert response.status_code == 200, response.json()
        return [verdict["status"] for verdict in response.json()["data"]["results"]]

    forward = [body(number) for number in range(6)]
    crossed = [{**row, "customCode": code} for row, code in zip(forward, reversed(codes), strict=True)]
    changes = [{"_id": link["_id"], "externalId": ids[number]} for number, link in enumerate(made[:2])]
    statuses = at_once([
        *(partial(single, number) for number in range(6)),
        partial(update, 2, 1),
        partial(update, 3, 4),
        partial(many, "/api/urls/bulk", forward),
        partial(many, "/api/urls/bulk", crossed[::-1]),
        partial(many, "/api/urls/bulk-update", changes),
        move,
    ])  # fmt: skip
    assert {status for group in statuses for status in group} <= {200, 201, 409}
    own = Link.objects.filter(owner=alice.workspace, external_id__isnull=False)
    assert sorted(own.values_list("external_id", flat=True)) == ids
