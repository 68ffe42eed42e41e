"""Applies the checks of a real visit to a described one. Writes nothing."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

from django.conf import settings

from links.destinations.lookup import Target, UnknownCode, read_target
from links.models import Link
from pages.refusals import Refusal
from redirects import refusals
from redirects.checks import CHECKS, elsewhere, route_by, router_of
from redirects.router import Route
from redirects.simulation.explain import CHECKS_IN_WORDS, CHOICES_IN_WORDS, Answer, answer_of, claim, password
from redirects.simulation.visits import DescribedVisit, described_visit


class Step(NamedTuple):
    check: str
    passed: bool
    detail: str


class Outcome(NamedTuple):
    """The answer to the visitor. ``rule`` and ``variant`` are ids; ``kind`` is that in the log of clicks."""

    status: int
    reason: str | None
    location: str | None
    rule: str | None
    variant: str | None
    counted: bool
    kind: str


class Simulation(NamedTuple):
    """The steps end with the check that refuses the visit, if any."""

    steps: list[Step]
    outcome: Outcome


def simulate(link: Link, **description: Any) -> Simulation:
    """Simulate a visit of the link. ``description``: the arguments of `described_visit`."""
    return explain(link, described_visit(**description))


def explain(link: Link, described: DescribedVisit) -> Simulation:
    host = settings.BASE_HOST if link.domain is None else link.domain.host
    target = read_target(host, str(link))
    if not isinstance(target, Target):
        return _not_found(link, host, target, described)
    steps = [Step("found", True, f"The code {link} on {host} belongs to this link.")]
    for check in CHECKS:
        refusal = check.refuse(target, described.visit, described.time)
        detail = CHECKS_IN_WORDS[check.name](link, target, described)
        steps.append(Step(check.name, refusal is None, detail))
        if refusal is not None:
            return Simulation(steps, _refused(described, refusal, elsewhere(target, refusal)))
    is_unlocked = target.password is None or described.unlocked
    steps.append(Step("password", is_unlocked, password(target, described)))
    if not is_unlocked:
        return Simulation(steps, _refused(described, refusals.PASSWORD))
    # A copy, because a router remembers the state of its schedules at the time of the last visit.
    route = route_by(copy(router_of(target)), target, described.visit, described.time)
    steps += [
        Step(name, True, in_words(link, target, described, route))
        for name, in_words in CHOICES_IN_WORDS.items()
    ]
    claimed = claim(target, described.visitor)
    steps.append(Step("claim", claimed.refusal is None, claimed.detail))
    if claimed.refusal is not None:
        return Simulation(steps, _refused(described, claimed.refusal))
    answer = answer_of(target, described, route)
    steps.append(Step("answer", True, answer.detail))
    return Simulation(steps, _answered(described, route, answer))


def _not_found(link: Link, host: str, result: UnknownCode | None, described: DescribedVisit) -> Simulation:
    """Explain that the link's domain is not verified, or belongs to another account by now."""
    why = "" if link.domain is None else f": the domain is {link.domain.status} in this account"
    detail = f"The code {link} on {host} does not belong to this link{why}."
    location = None if result is None else result.elsewhere
    return Simulation([Step("found", False, detail)], _refused(described, refusals.NOT_FOUND, location))


def _refused(described: DescribedVisit, refusal: Refusal, location: str | None = None) -> Outcome:
    return Outcome(
        status=described.redirect_status(302) if location else refusal.status,
        reason=refusal.reason,
        location=location,
        rule=None,
        variant=None,
        counted=False,
        # People are recorded as refused, bots as what they are.
        kind="refused" if described.visitor.kind == "click" else described.visitor.kind,
    )


def _answered(described: DescribedVisit, route: Route, answer: Answer) -> Outcome:
    return Outcome(
        status=answer.status,
        reason=None,
        location=answer.location,
        rule=None if answer.is_card else route.rule,
        variant=None if answer.is_card else route.variant,
        counted=described.visitor.kind == "click",
        kind=described.visitor.kind,
    )
