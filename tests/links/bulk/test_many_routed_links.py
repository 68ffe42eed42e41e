"""Bulk calls write links with rules in groups, so that no statement runs into the statement timeout."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from links.bulk.services import MAX_ITEMS
from links.models import Link, Route
from links.routing.serializers import MAX_RULES
from links.storage.columns import ROUTED_LINKS_PER_STATEMENT
from testing.links.many import URL, create_many
from tests.links.many_changes import update

_LOG = """
CREATE TEMPORARY TABLE written (operation text, links integer) ON COMMIT DROP;
CREATE FUNCTION pg_temp.log_links() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO written SELECT TG_OP, count(*) FROM new_rows; RETURN NULL; END';
CREATE TRIGGER log_inserts AFTER INSERT ON links_link REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.log_links();
CREATE TRIGGER log_updates AFTER UPDATE ON links_link REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.log_links();
"""


@pytest.fixture
def log(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_LOG)


def links_per_statement(operation: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM written WHERE operation = %s RETURNING links", [operation])
        return [links for (links,) in cursor.fetchall()]


def rules(link: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"Rule {number}",
            "url": f"https://www.example.com/campaigns/spring/{link}/branch/{number}",
            "conditions": [{"type": "country", "values": ["DE", "AT"]}],
        }
        for number in range(MAX_RULES)
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("log")
def test_no_statement_writes_many_links_with_rules(api: APIClient) -> None:
    created = create_many(api, [{"originalUrl": URL, "rules": rules(link)} for link in range(MAX_ITEMS)])
    assert all(verdict["success"] for verdict in created)
    groups = [ROUTED_LINKS_PER_STATEMENT] * (MAX_ITEMS // ROUTED_LINKS_PER_STATEMENT)
    assert links_per_statement("INSERT") == groups
    assert Route.objects.count() == MAX_ITEMS * MAX_RULES

    ids = [verdict["url"]["_id"] for verdict in created]
    assert all(verdict["success"] for verdict in update(api, *({"_id": name, "title": "x"} for name in ids)))
    assert links_per_statement("UPDATE") == groups
    assert Link.objects.filter(title="x").count() == MAX_ITEMS
    assert Route.objects.count() == MAX_ITEMS * MAX_RULES


@pytest.mark.usefixtures("log")
def test_plain_links_are_written_in_one_statement(api: APIClient) -> None:
    count = 2 * ROUTED_LINKS_PER_STATEMENT
    items: list[dict[str, Any]] = [{"originalUrl": URL} for _ in range(count)]
    created = create_many(api, [*items, {"originalUrl": URL, "rules": rules(0)}])
    assert links_per_statement("INSERT") == [count, 1]

    ids = [verdict["url"]["_id"] for verdict in created]
    changes: list[dict[str, Any]] = [{"_id": name, "title": "x"} for name in ids]
    changes[0]["rules"] = rules(0)
    update(api, *changes)
    assert links_per_statement("UPDATE") == [count - 1, 2]
