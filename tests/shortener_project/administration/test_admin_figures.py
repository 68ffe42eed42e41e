"""The front page of the admin, its indexes and its audit trail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.contrib.admin import site
from django.db import connection
from django.db.models import Model
from django.http import QueryDict
from django.test import RequestFactory
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from analytics.journal.drops import count_drop
from analytics.models import Click, DeadLetter, Kind, PendingRecord, Segment, UnknownCode
from domains.models import Domain
from links.models import Link
from testing.accounts.admin import Operator
from testing.analytics.facts import Fact, record

MakeLink = Callable[..., dict[str, Any]]


def figures(operator: Operator) -> dict[str, dict[str, int]]:
    groups = operator.see("").context["groups"]
    return {name: {figure.name: figure.value for figure in figures} for name, figures in groups.items()}


def day_of_database() -> date:
    """It lasts as long as the transaction of a test."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (now() AT TIME ZONE 'UTC')::date")
        [(day,)] = cursor.fetchall()
    return day


def test_front_page_shows_the_service_figures(
    operator: Operator, alice: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    first, second = make_link(), make_link()
    api.put(f"/api/urls/{second['_id']}", {"isActive": False})
    today = day_of_database()
    now = f"{today}T00:00Z"
    for link in (first, second):
        record(
            link["_id"],
            [
                Fact(now, count=3),
                Fact(now, visitor="another"),
                Fact(now, kind=Kind.REFUSED, reason="country", count=2),
                Fact(now, kind=Kind.CRAWLER, count=5),
                Fact("2026-03-01T10:00Z", count=7),
                Fact("2026-03-01T10:00Z", kind=Kind.REFUSED, reason="country"),
            ],
        )
    Link.objects.get(public_id=first["_id"]).counter.__class__.objects.update(clicks=11)
    UnknownCode.objects.create(domain_id=0, day=today, hits=4)
    UnknownCode.objects.create(domain_id=0, day="2026-03-01", hits=8)
    for number, status in enumerate(["pending", "active", "active"]):
        Domain.objects.create(
            owner=alice.workspace, domain="b.example", host=f"{number}.b.example", status=status
        )
    Segment.objects.create(id="01a1fa86-0000-7000-8000-000000000000")
    PendingRecord.objects.create(record=b"")
    DeadLetter.objects.create(record=b"", reason="No such kind.")
    count_drop()
    assert figures(operator) == {
        "Links": {"links": 2, "active links": 1, "clicks in total": 22},
        "Today (UTC)": {
            "clicks": 8,
            "unique clicks": 4,
            "refused": 4,
            "not counted (HEAD, prefetches, crawlers)": 10,
            "requests for unknown codes": 4,
        },
        "Domains": {"pending": 1, "active": 2, "inactive": 0},
        "Clicks to be counted": {
            "journal backlog of this host (bytes)": 0,
            "damaged segments of this host": 0,
            "clicks dropped by this host": 1,
            "pending records in the database": 1,
            "records that cannot be counted": 1,
        },
    }


def test_the_front_page_takes_eight_queries(operator: Operator, make_link: MakeLink) -> None:
    # Session and operator, five for the figures, and the operator's latest actions.
    assert operator.queries("") == 8
    for _ in range(3):
        make_link()
    operator.act("links/link/", "ban_links", Link.objects.all())
    assert operator.queries("") == 8


def sortable_columns() -> list[tuple[type[Model], str]]:
    return [
        (model, column) for model, model_admin in site._registry.items() for column in model_admin.sortable_by
    ]


@pytest.mark.parametrize(("model", "column"), sortable_columns())
def test_an_index_serves_each_sortable_column(
    operator: Operator, rf: RequestFactory, model: type[Model], column: str
) -> None:
    model_admin = site._registry[model]
    request = rf.get("/")
    request.user = User.objects.get(email="operator@example.com")
    position = list(model_admin.get_changelist_instance(request).list_display).index(column)
    page = f"{model._meta.app_label}/{model._meta.model_name}/"
    assert operator.see(page, o=f"-{position}")
    request.GET = QueryDict(f"o={position}")
    changelist = model_admin.get_changelist_instance(request)
    # Clicks are sorted within the last hour.
    order = list(changelist.get_ordering(request, model_admin.get_queryset(request)))
    if model is Click:
        assert order[0] == "time"
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
    for names in (order, [name.removeprefix("-") if name[0] == "-" else f"-{name}" for name in order]):
        plan = model._default_manager.order_by(*names).values("pk")[:50].explain()
        assert "->  Sort " not in plan, plan


def test_audit_trail_lists_operator_actions(operator: Operator, make_link: MakeLink) -> None:
    def rows() -> list[tuple[str, str, str]]:
        entries = operator.rows("admin/logentry/", q="operator@example.com")
        return [(entry.user.email, entry.object_repr, entry.change_message) for entry in entries]

    make_link(customCode="Summer")
    operator.act("links/link/", "ban_links", Link.objects.all())
    assert rows() == [("operator@example.com", "Summer", "Banned.")]
    queries = operator.queries("admin/logentry/")
    for _ in range(3):
        operator.act("links/link/", "ban_links", Link.objects.all())
    assert operator.queries("admin/logentry/") == queries == 4
    assert operator.get("/admin/admin/logentry/add/").status_code == 403
