"""During an outage, a host follows a link whose edit had no effect, and not one whose edit may have had one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import Error, connection, transaction

from common.host import cache_versions
from links.destinations.known_links import known_links
from links.destinations.lookup import Target, load_target, recall_target
from links.models import Link
from testing.connections import closed_connection as closed_connection
from testing.connections import kill_backend

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_host_memory")]
HOST = "sho.rt"


def read(code: str) -> None:
    assert isinstance(load_target(HOST, code), Target)
    known_links().flush()


def edit(code: str) -> None:
    Link.objects.filter(short_code=code).update(title="Edited")
    cache_versions.bump(codes=[code])


def test_a_link_is_followed_while_its_edit_is_in_flight_and_after_a_rollback(
    make_link: Callable[..., dict[str, Any]],
) -> None:
    code = make_link()["shortCode"]
    read(code)
    with transaction.atomic():
        edit(code)
        assert isinstance(recall_target(HOST, code), Target)
        transaction.set_rollback(True)
    assert isinstance(recall_target(HOST, code), Target)


def test_a_committed_edit_is_never_followed_in_its_former_state(
    make_link: Callable[..., dict[str, Any]],
) -> None:
    code = make_link()["shortCode"]
    read(code)
    with transaction.atomic():
        edit(code)
    assert recall_target(HOST, code) is None


def test_a_link_whose_edit_may_have_been_committed_is_not_followed(
    make_link: Callable[..., dict[str, Any]],
) -> None:
    def commit_without_response() -> None:
        with transaction.atomic():
            edit(code)
            kill_backend()

    code = make_link()["shortCode"]
    read(code)
    with pytest.raises(Error):
        commit_without_response()
    assert recall_target(HOST, code) is None


def test_an_edit_that_the_database_refuses_at_the_commit_had_no_effect(
    make_link: Callable[..., dict[str, Any]],
) -> None:
    def refused() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            edit(code)
            cursor.execute("INSERT INTO edited VALUES (1), (1)")

    code = make_link()["shortCode"]
    read(code)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE edited (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(Error, match="duplicate key"):
        refused()
    assert isinstance(recall_target(HOST, code), Target)
