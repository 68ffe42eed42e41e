"""One sentence for each step that chooses the destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from links.destinations.lookup import Target
from links.models import Link
from redirects.checks import router_of
from redirects.routing.router import Route
from redirects.simulation.conditions import condition_text, visit_text
from redirects.simulation.visits import DescribedVisit

Detail = Callable[[Link, Target, DescribedVisit, Route], str]


def _rule(_: Link, target: Target, described: DescribedVisit, route: Route) -> str:
    router = router_of(target)
    if router is None or not router.rules:
        return "The link has no rules."
    stored = orjson.loads(target.routing or "{}")["rules"]
    failures = []
    for number, (rule, raw) in enumerate(zip(router.rules, stored, strict=True), 1):
        named = f"{number} “{rule.name}”" if rule.name else str(number)
        failing = rule.first_failing(described.visit, described.time.timestamp())
        if rule.route.rule == route.rule:
            texts = " and ".join(map(condition_text, raw["conditions"]))
            return f"Rule {named} matches: {texts}."
        condition = raw["conditions"][failing]
        failures.append(
            f"rule {named} requires that {condition_text(condition)} ({visit_text(condition, described)})"
        )
    return f"No rule matches: {'; '.join(failures)}."


def _split(_: Link, target: Target, described: DescribedVisit, route: Route) -> str:
    router = router_of(target)
    if router is None or not router.variants:
        return "The link has no split."
    if route.rule is not None:
        return "The split does not apply, because a rule matches."
    variant = router.variant_of(described.visit)
    if variant is None:
        share = 100 - sum(variant.weight for variant in router.variants)
        return f"The visitor's address and user agent fall into the {share} % for the target."
    named = f"“{variant.name}”" if variant.name else "the variant"
    return f"The visitor's address and user agent fall into the {variant.weight} % for {named}."


def _target(link: Link, target: Target, _: DescribedVisit, route: Route) -> str:
    if route.rule is not None:
        name = "URL of the rule"
    elif route.variant is not None:
        name = "URL of the variant"
    else:
        name = "originalUrl of the link" if link.target_url is None else "targetUrl of the link"
    text = f"The destination is the {name}, {route.location}"
    router = router_of(target)
    if router is None or not router.forwards:
        return f"{text}."
    branches = [*(rule.route for rule in router.rules), *(variant.route for variant in router.variants)]
    own = next(own for own in (router.target, *branches) if own.branch == route.branch)
    return f"{text}, with {'no parameter' if own == route else 'parameters'} of the visitor."


DETAILS: Mapping[str, Detail] = {"rule": _rule, "split": _split, "target": _target}
