"""Every check with every two features: view, fast lane and simulation do what the documentation says."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
import time_machine
from django.conf import settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.journal.pending import open_record, take_pending
from analytics.journal.records import Record, decode
from analytics.models import Kind
from links.models import ClickCounter, Link
from redirects.checks import ORDER
from redirects.simulation.serializers import SimulationSerializer
from redirects.simulation.serializers import simulation as representation
from redirects.simulation.services import Simulation, explain
from redirects.simulation.visits import described_visit
from testing.links.many import create_many
from testing.redirects.following import custom_domain
from testing.redirects.visits import USUAL, Outcome, django, lane_outcome, request
from testing.visitors.addresses import AMERICAN
from tests.redirects.lanes.decision_model import Expected, expected, is_possible, kind_of, merged
from tests.redirects.lanes.decision_table import DOMAIN_LATE, FEATURES, OLD_HOST, OWN_HOST, Feature

pytestmark = pytest.mark.django_db

Pair = tuple[Feature, ...]
# More than one visit claims.
PENDING = 10


class Seen(NamedTuple):
    """What the view answered and recorded. ``policy``: the header of a redirect. ``claimed``: clicks."""

    status: int
    reason: str | None
    location: str
    policy: str | None
    records: list[Record]
    claimed: int


def pairs_of(first: Feature) -> list[Pair]:
    """The feature alone, and with each feature after it in the table."""
    later = FEATURES[FEATURES.index(first) + 1 :]
    return [(first,), *filter(is_possible, ((first, other) for other in later))]


@pytest.fixture
def domain_ids(alice: NewAccount) -> dict[str, str]:
    domains = [custom_domain(alice, host) for host in (OLD_HOST, OWN_HOST)]
    domains[1].expired_url = DOMAIN_LATE
    domains[1].save()
    return {domain.host: str(domain.public_id) for domain in domains}


@pytest.mark.slow
@pytest.mark.parametrize("first", FEATURES, ids=[feature.name for feature in FEATURES])
def test_view_fast_lane_and_simulation_agree(
    api: APIClient, domain_ids: dict[str, str], first: Feature
) -> None:
    pairs = pairs_of(first)
    links = created(api, [merged(pair).link for pair in pairs], domain_ids)
    wrong = {}
    for pair, link in zip(pairs, links, strict=True):
        headers = {name: value for feature in pair for name, value in (feature.setup(link) or {}).items()}
        problems = check(pair, link, headers)
        if problems:
            wrong[merged(pair).name] = problems
    assert wrong == {}


def test_the_api_simulates_every_feature_alone(api: APIClient, domain_ids: dict[str, str]) -> None:
    features = [feature for feature in FEATURES if feature.name != "prefetch"]
    links = created(api, [merged((feature,)).link for feature in features], domain_ids)
    answered, explained = {}, {}
    # Sentences contain the time of the visit.
    with time_machine.travel(datetime.now(UTC), tick=False):
        for feature, link in zip(features, links, strict=True):
            is_unlocked = "Cookie" in (feature.setup(link) or {})
            visit = description_of(feature, is_unlocked=is_unlocked)
            response = api.post(f"/api/urls/{link.public_id}/simulate", visit)
            answered[feature.name] = response.json()["data"]
            explained[feature.name] = representation(simulated(link, feature, is_unlocked=is_unlocked))

    assert answered == explained


def created(api: APIClient, bodies: list[dict[str, Any]], domain_ids: dict[str, str]) -> list[Link]:
    named = [
        {**body, "domainId": domain_ids[body["domainId"]]} if "domainId" in body else body for body in bodies
    ]
    results = create_many(api, named)
    assert [result for result in results if result["status"] != 201] == []
    ids = [result["url"]["_id"] for result in results]
    links = {
        str(link.public_id): link for link in Link.objects.select_related("domain").filter(public_id__in=ids)
    }
    return [links[public_id] for public_id in ids]


def check(pair: Pair, link: Link, headers: dict[str, str]) -> list[Any]:
    """Return what is wrong."""
    visit, promised = merged(pair), expected(pair)
    query = f"?{visit.query}" if visit.query else ""
    data = request_of(f"/{link}{query}", {**visit.headers, **headers}, visit.method)
    simulation = simulated(link, visit, is_unlocked="Cookie" in headers)
    by_lane = lane_outcome(data, AMERICAN)
    before = clicks_of(link)
    take_pending(PENDING)
    by_view = django(data, AMERICAN)
    pending = [decode(open_record(content)) for content in take_pending(PENDING)]
    seen = read(by_view, pending, clicks_of(link) - before)
    problems: list[Any] = []
    if seen.claimed != len(pending):
        problems.append((pending, seen))
    if not as_promised(seen, promised):
        problems.append((promised, seen))
    if by_lane is not None and by_lane != by_view:
        problems.append((by_lane, by_view))
    if settings.FAST_LANE and (by_lane is not None) != promised.in_lane:
        problems.append(f"expected {'an answer' if promised.in_lane else 'no answer'} of the fast lane")
    if not agrees(simulation, seen, promised, visit, link):
        problems.append((simulation, seen))
    return problems


def request_of(path: str, headers: dict[str, str], method: str) -> bytes:
    """A POST has the body of a program that sends no password."""
    if method != "POST":
        return request(path, {**headers}, method)
    body = b"{}"
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    return request(path, {**headers, **fields}, method) + body


def clicks_of(link: Link) -> int:
    """Return the counted clicks. Only visits of links with a click limit are counted at once."""
    is_capped = link.max_clicks is not None or link.max_clicks_per_visitor is not None
    return ClickCounter.objects.get(pk=link.pk).clicks if is_capped else 0


def description_of(visit: Feature, *, is_unlocked: bool) -> dict[str, Any]:
    """Return the visit for the API, without a prefetch, which it does not describe."""
    return {
        "address": AMERICAN,
        "userAgent": visit.headers.get("User-Agent", USUAL["User-Agent"]),
        "language": USUAL["Accept-Language"],
        "referrer": visit.headers.get("Referer", ""),
        "query": visit.query,
        "method": visit.method,
        "unlocked": is_unlocked,
    }


def simulated(link: Link, visit: Feature, *, is_unlocked: bool) -> Simulation:
    fields = SimulationSerializer().run_validation(description_of(visit, is_unlocked=is_unlocked))
    described = described_visit(**fields)
    if kind_of(visit) == "prefetch":
        described = replace(described, visitor=replace(described.visitor, kind="prefetch"))
    return explain(link, described)


def read(outcome: Outcome, pending: list[Record], claimed: int) -> Seen:
    """``pending``: the records of claimed clicks, which are in the database."""
    head = outcome.response.partition(b"\r\n\r\n")[0].decode("ascii")
    fields = dict(re.findall(r"\r\n([\w-]+): ([^\r\n]*)", head))
    return Seen(
        int(head.split(" ")[1]),
        fields.get("X-Refusal-Reason"),
        fields.get("Location", ""),
        fields.get("Referrer-Policy") if "Location" in fields else None,
        outcome.records + pending,
        claimed,
    )


def as_promised(seen: Seen, promised: Expected) -> bool:
    # A redirect to notStartedUrl or expiredUrl is not refused for the visitor.
    reason = None if promised.status in (302, 303) else promised.reason
    return (seen.status, seen.reason, seen.policy) == (
        promised.status,
        reason,
        promised.policy,
    ) and seen.location in promised.locations


def agrees(simulation: Simulation, seen: Seen, promised: Expected, visit: Feature, link: Link) -> bool:
    outcome, steps = simulation.outcome, simulation.steps
    is_refused = promised.reason is not None
    names = [step.check for step in steps]
    last = ORDER[len(steps) - 1]
    branches = {branch["_id"]: branch["number"] for branch in (*link.rules, *link.split)}
    branch = branches.get(outcome.rule or outcome.variant or "", 0)
    return (
        (outcome.status, outcome.reason, outcome.location or "")
        == (seen.status, promised.reason, seen.location)
        and names == [*ORDER[: len(steps)]]
        and [step.passed for step in steps] == [True] * (len(steps) - 1) + [not is_refused]
        and (last == "answer") != is_refused
        and all(step.detail.endswith(".") for step in steps)
        and outcome.counted == (kind_of(visit) == "click" and not is_refused)
        and [(outcome.kind, outcome.reason or "", branch)]
        == [(Kind(record.kind).name.lower(), record.reason, record.flags >> 4) for record in seen.records]
    )
