"""Operators simulate visits on the admin's page of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User
from links.models import Link
from redirects.checks import ORDER
from testing.accounts.accounts import account
from testing.accounts.admin import Operator
from testing.visitors.forgeries import records
from tests.redirects.simulation.simulated import rows_of_every_table

MakeLink = Callable[..., dict[str, Any]]


def page_of(link: dict[str, Any]) -> str:
    return f"links/link/{Link.objects.get(public_id=link['_id']).pk}/change/"


@pytest.fixture
def employee(db: None) -> User:
    """A member of the staff without any permission."""
    user = account("staff@example.com").user
    user.is_staff = True
    user.save()
    return user


def test_the_page_has_an_empty_form_until_it_is_sent(operator: Operator, make_link: MakeLink) -> None:
    response = operator.see(page_of(make_link()))

    assert "simulation" not in response.context
    assert "Simulate a visit" in response.content.decode()


def test_the_form_explains_each_check(operator: Operator, make_link: MakeLink) -> None:
    link = make_link("https://example.com/page", restrictions={"allowedCountries": ["DE"]})

    allowed = operator.see(page_of(link), simulate="1", country="de", method="HEAD")
    refused = operator.see(page_of(link), simulate="1", address="8.8.8.8", device="", unlocked="on")

    assert [step.check for step in allowed.context["simulation"].steps] == [*ORDER]
    assert allowed.context["simulation"].outcome.kind == "head"
    assert "The visitor&#x27;s country is DE; the link allows DE." in allowed.content.decode()
    assert refused.context["simulation"].outcome.reason == "country"
    assert "The visitor&#x27;s country is US; the link allows DE." in refused.content.decode()


def test_bad_values_are_shown_beside_their_fields(operator: Operator, make_link: MakeLink) -> None:
    response = operator.see(
        page_of(make_link()), simulate="1", country="XX", address="8.8", time="soon", device="phone"
    )

    assert "simulation" not in response.context
    assert response.context["visit"].errors == {
        "country": ["Must be an ISO 3166-1 alpha-2 country code."],
        "address": ["Must be an IPv4 or IPv6 address, such as 203.0.113.9."],
        "time": ["Must be an ISO 8601 date or date-time, such as 2030-12-31T23:59:59Z."],
        "device": ["Select a valid choice. phone is not one of the available choices."],
    }


def test_the_form_escapes_what_the_owner_entered(operator: Operator, make_link: MakeLink) -> None:
    condition = {"type": "scanned"}
    link = make_link(rules=[{"name": "<b>x</b>", "url": "https://a.example/", "conditions": [condition]}])

    page = operator.see(page_of(link), simulate="1", query="<i>&qr=1").content.decode()

    assert "<b>x</b>" not in page
    assert "<i>" not in page
    assert "Rule 1 “&lt;b&gt;x&lt;/b&gt;” matches" in page


def test_only_staff_with_the_permission_to_view_links_can_simulate(
    employee: User, make_link: MakeLink
) -> None:
    client = Client(headers={"host": "sho.rt"})
    client.force_login(employee)
    page, query = f"/admin/{page_of(make_link())}", {"simulate": "1"}

    assert client.get(page, query).status_code == 403
    employee.user_permissions.add(Permission.objects.get(codename="view_link"))
    assert client.get(page, query).context["simulation"].outcome.status == 302
    client.logout()
    response = client.get(page, query)
    assert (response.status_code, response["Location"].partition("?")[0]) == (302, "/admin/login/")


def test_the_form_writes_nothing(operator: Operator, make_link: MakeLink) -> None:
    page = page_of(make_link(restrictions={"maxClicks": 1}))
    operator.see(page)
    before = rows_of_every_table()

    operator.see(page, simulate="1", address="8.8.8.8")

    assert rows_of_every_table() == before
    assert records(settings.CLICKS_DIR) == []


def test_the_page_takes_one_query_more_with_a_simulation(operator: Operator, make_link: MakeLink) -> None:
    page = page_of(make_link())

    assert operator.queries(page, simulate="1") == operator.queries(page) + 1
