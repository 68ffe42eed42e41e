"""A link that changes between the check of a visit and the claim of its click: the visitor gets the true reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from analytics.journal import capture
from links.models import ClickCounter, Link
from links.operators import ban_link
from redirects import views
from testing.analytics.clicks import drain
from testing.redirects.following import FUTURE, PAST

MakeLink = Callable[..., dict[str, Any]]
Change = Callable[[APIClient, dict[str, Any]], object]

pytestmark = pytest.mark.django_db


def update(**fields: Any) -> Change:
    return lambda api, link: api.put(f"/api/urls/{link['_id']}", fields)


def ban(reason: str) -> Change:
    return lambda _, link: ban_link(link=Link.objects.get(public_id=link["_id"]), reason=reason)


CHANGES: dict[str, tuple[Change, int, str]] = {
    "banned for legal reasons": (ban("legal"), 451, "legal"),
    "banned": (ban("spam"), 410, "disabled"),
    "switched off": (update(isActive=False), 410, "disabled"),
    "expired": (update(expiresAt=PAST), 410, "expired"),
    "not started": (update(startsAt=FUTURE), 404, "not_started"),
    "used up": (lambda *_: ClickCounter.objects.update(clicks=1), 410, "limit_reached"),
}


@pytest.fixture
def before_the_claim(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    def call(change: Callable[[], object]) -> None:
        claim = capture.record_claimed_click

        def changed(*arguments: Any, **options: Any) -> Any:
            monkeypatch.setattr(capture, "record_claimed_click", claim)
            change()
            return claim(*arguments, **options)

        monkeypatch.setattr(capture, "record_claimed_click", changed)

    return call


@pytest.mark.parametrize("restrictions", [{"maxClicks": 1}, {"maxClicks": 1, "maxClicksPerVisitor": 1}])
@pytest.mark.parametrize("name", CHANGES)
def test_the_visitor_the_report_and_the_metric_get_the_reason_of_the_claim(
    visitor: Client,
    api: APIClient,
    make_link: MakeLink,
    before_the_claim: Callable[[Callable[[], object]], None],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    restrictions: dict[str, int],
) -> None:
    change, status, reason = CHANGES[name]
    link = make_link(restrictions=restrictions)
    outcomes: list[str] = []
    monkeypatch.setattr(views, "observe_redirect", lambda _, outcome, __: outcomes.append(outcome))
    before_the_claim(lambda: change(api, link))

    response = visitor.get(f"/{link['shortCode']}", headers={"accept": "application/json"})

    assert (response.status_code, response.json()["reason"]) == (status, reason)
    assert outcomes[-1] == reason
    drain()
    report = api.get(f"/api/analytics/{link['_id']}").json()["data"]
    assert {name: visits for name, visits in report["refused"].items() if visits} == {reason: 1}


def test_a_link_deleted_before_the_claim_is_not_found(
    visitor: Client,
    api: APIClient,
    make_link: MakeLink,
    before_the_claim: Callable[[Callable[[], object]], None],
) -> None:
    link = make_link(restrictions={"maxClicks": 1})
    before_the_claim(lambda: api.delete(f"/api/urls/{link['_id']}"))

    response = visitor.get(f"/{link['shortCode']}", headers={"accept": "application/json"})

    assert (response.status_code, response.json()["reason"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"expiresAt": PAST}, {"expiredUrl": "https://over.example/"}),
        ({"startsAt": FUTURE}, {"notStartedUrl": "https://soon.example/"}),
    ],
)
def test_the_visitor_goes_where_the_link_sends_such_visitors(
    visitor: Client,
    api: APIClient,
    make_link: MakeLink,
    before_the_claim: Callable[[Callable[[], object]], None],
    change: dict[str, str],
    fields: dict[str, str],
) -> None:
    link = make_link(restrictions={"maxClicks": 5}, **fields)
    before_the_claim(lambda: api.put(f"/api/urls/{link['_id']}", change))

    response = visitor.get(f"/{link['shortCode']}")

    [url] = fields.values()
    assert (response.status_code, response["Location"]) == (302, url)
