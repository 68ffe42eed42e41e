"""Undeletions while clicks are counted, and while their workspace, domain or creator is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction
from rest_framework.test import APIClient

from accounts.services import NewAccount
from accounts.workspaces import WorkspaceNotEmpty, delete_workspace
from common.errors import NotFound
from domains.models import Domain
from domains.services import delete_domain
from links.clicks import add_clicks
from links.models import ClickCounter, Code, DeletedLink, Link
from links.services import delete_link, undelete_link
from testing.accounts.workspaces import key_client_in, team
from testing.polling import eventually
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.django_db(transaction=True)


def clicks_of(link_id: int) -> int:
    counters = ClickCounter.objects.filter(link_id=link_id).values_list("clicks", flat=True)
    deleted = DeletedLink.objects.filter(link_id=link_id).values_list("clicks", flat=True)
    [clicks] = [*counters, *deleted]
    return clicks


def try_in_another_transaction(call: Callable[[], Any]) -> bool:
    """False if the call has to wait for a lock."""

    def attempt() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        try:
            call()
        except OperationalError:
            return False
        return True

    return at_once([attempt])[0]


@pytest.mark.parametrize("is_deleted_at_first", [False, True])
@pytest.mark.parametrize("flips", range(1, 8))
def test_a_click_is_counted_once_however_often_its_link_is_deleted_meanwhile(
    is_deleted_at_first: bool, flips: int, alice: NewAccount, make_link: MakeLink
) -> None:
    """The link is deleted or brought back before each of the statements that count the click, until one locks it."""
    shown = make_link()
    link = Link.objects.get()
    others = [make_link() for _ in range(2)]
    actions = [delete_link, undelete_link] * flips
    if is_deleted_at_first:
        actions.pop(0)(owner=alice.workspace, public_id=shown["_id"])
    remaining = actions[:flips]

    def flip(execute: Any, *statement: Any) -> Any:
        if remaining:
            action = remaining.pop(0)
            if not try_in_another_transaction(lambda: action(owner=alice.workspace, public_id=shown["_id"])):
                remaining.clear()
        return execute(*statement)

    counts = {link.pk: 3, **dict.fromkeys(Link.objects.exclude(pk=link.pk).values_list("pk", flat=True), 1)}
    with transaction.atomic(), connection.execute_wrapper(flip):
        assert add_clicks(counts).keys() == counts.keys()
    assert clicks_of(link.pk) == 3
    assert [clicks_of(pk) for pk in counts if pk != link.pk] == [1] * len(others)


@contextmanager
def committed_while_another_waits(call: Callable[[], Any]) -> Iterator[list[Any]]:
    """A transaction that is committed when ``call`` waits for it in a thread. Yields the call's result or error."""
    results: list[Any] = []

    def run() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = 0; SET statement_timeout = 0")
            results.append(call())
        except Exception as error:  # the test compares it
            results.append(error)
        finally:
            connections.close_all()

    def waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            return cursor.rowcount > 0

    thread = Thread(target=run)
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            yield results
            thread.start()
            eventually(lambda: waits() or not thread.is_alive())
            assert results == []
    finally:
        if thread.ident is not None:
            thread.join()


def count(link_id: int) -> set[int]:
    with transaction.atomic():
        return set(add_clicks({link_id: 1}))


@pytest.mark.parametrize("first", ["drainer", "request"])
@pytest.mark.parametrize("change", [delete_link, undelete_link])
def test_a_click_is_counted_while_a_deletion_or_undeletion_commits(
    first: str, change: Callable[..., Any], alice: NewAccount, make_link: MakeLink
) -> None:
    shown = make_link()
    pk = Link.objects.get().pk
    if change is undelete_link:
        delete_link(owner=alice.workspace, public_id=shown["_id"])

    def request() -> None:
        change(owner=alice.workspace, public_id=shown["_id"])

    def drainer() -> set[int]:
        return count(pk)

    holder, waiter = (drainer, request) if first == "drainer" else (request, drainer)
    with committed_while_another_waits(waiter) as results:
        holder()
    assert results == ([None] if first == "drainer" else [{pk}])
    assert clicks_of(pk) == 1
    assert Link.objects.filter(pk=pk).exists() == (change is undelete_link)


def test_clicks_are_counted_while_a_link_is_deleted_and_brought_back(
    alice: NewAccount, make_link: MakeLink
) -> None:
    shown = make_link()
    pk = Link.objects.get().pk

    def change() -> None:
        for _ in range(20):
            delete_link(owner=alice.workspace, public_id=shown["_id"])
            undelete_link(owner=alice.workspace, public_id=shown["_id"])

    def drain() -> None:
        for _ in range(20):
            assert count(pk) == {pk}

    at_once([change, drain, drain])
    assert clicks_of(pk) == 40


def test_a_workspace_with_a_link_that_comes_back_is_not_deleted(alice: NewAccount) -> None:
    workspace = team(alice)
    client = key_client_in(workspace, alice.api_key)
    link = client.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    delete_link(owner=workspace, public_id=link["_id"])
    with committed_while_another_waits(
        lambda: delete_workspace(workspace=workspace, actor=alice.user)
    ) as results:
        undelete_link(owner=workspace, public_id=link["_id"])
    assert [type(result) for result in results] == [WorkspaceNotEmpty]
    assert client.get(f"/api/urls/{link['_id']}").status_code == 200


def test_a_link_of_a_deleted_workspace_does_not_come_back(alice: NewAccount) -> None:
    workspace = team(alice)
    client = key_client_in(workspace, alice.api_key)
    body = {"originalUrl": "https://example.com/", "customCode": "spring"}
    link = client.post("/api/urls", body).json()["data"]["url"]
    delete_link(owner=workspace, public_id=link["_id"])

    def undelete() -> None:
        undelete_link(owner=workspace, public_id=link["_id"])

    with committed_while_another_waits(undelete) as results:
        delete_workspace(workspace=workspace, actor=alice.user)
    assert [type(result) for result in results] == [NotFound]
    assert DeletedLink.objects.count() == Link.objects.count() == 0
    # Nobody gets a printed code.
    own = APIClient(headers={"host": "sho.rt", "x-api-key": alice.api_key})
    assert own.post("/api/urls", body).json()["code"] == "code_taken"


@pytest.mark.parametrize("first", ["domain", "link"])
def test_a_link_comes_back_while_its_domain_is_deleted(
    first: str, alice: NewAccount, api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    link = make_link(domainId=str(brand.public_id), customCode="spring")
    delete_link(owner=alice.workspace, public_id=link["_id"])

    def undelete() -> None:
        undelete_link(owner=alice.workspace, public_id=link["_id"])

    def delete() -> None:
        delete_domain(owner=alice.workspace, public_id=str(brand.public_id))

    holder, waiter = (delete, undelete) if first == "domain" else (undelete, delete)
    with committed_while_another_waits(waiter) as results:
        holder()
    assert results == [None]
    shown = api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]
    assert (shown["domainId"], shown["customCode"]) == ("base", "spring")
    codes = Code.objects.filter(link__public_id=link["_id"]).values_list("domain", "code", "kind")
    assert set(codes) == {(None, link["shortCode"], "short"), (None, "spring", "custom")}
