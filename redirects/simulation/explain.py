"""Says in words how a described visit would end: one sentence for each step, with the values that decide it.

It claims no click and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import orjson

from analytics.journal.capture import visitor_hashes
from analytics.visitors.visitor import Visitor
from bans.models import Ban
from bans.services import is_host_banned
from links.destinations.lookup import Target
from links.fields import DAYS, DIRECT
from links.models import Link, LinkBan
from links.selectors import claimed_clicks
from pages.refusals import Refusal
from redirects import refusals
from redirects.checks import router_of
from redirects.previews import shows_card
from redirects.router import Route
from redirects.simulation.visits import DescribedVisit

CheckInWords = Callable[[Link, Target, DescribedVisit], str]
# The pattern of the database function `links_ban_reason`.
_LEGAL = r"^\s*legal\s*$"


def _moment_text(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    seconds = ":%S" if moment.second or moment.microsecond else ""
    fraction = f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else ""
    return f"{moment.date()} at {moment.strftime(f'%H:%M{seconds}')}{fraction} UTC"


def _active(link: Link, target: Target, _: DescribedVisit) -> str:
    if target.ban_reason == "legal":
        return f"An operator has banned {_banned(link, reason__iregex=_LEGAL)} for legal reasons."
    if target.ban_reason is not None:
        return f"An operator has banned {_banned(link)}."
    if not link.is_active:
        return "The owner has switched the link off."
    if link.domain is not None and not link.domain.verified:
        return f"The domain {link.domain.host} is {link.domain.status}: its DNS records do not verify it."
    return "The link is switched on, and no ban applies."


def _banned(link: Link, **bans: str) -> str:
    """Return the subject of one of the bans that apply. ``bans`` filters them."""
    if LinkBan.objects.filter(link=link, **bans).exists():
        return "the link"
    if Ban.objects.filter(owner_id=link.owner_id, **bans).exists():
        return "all links of the account"
    url = next(filter(is_host_banned, (link.destination, *link.other_destinations)), link.destination)
    return f"the host of {url}"


def _started(_: Link, target: Target, described: DescribedVisit) -> str:
    if target.starts_at is None:
        return "The link has no start."
    return f"The link starts on {_moment_text(target.starts_at)}; the visit is on {_moment_text(described.time)}."


def _not_expired(_: Link, target: Target, described: DescribedVisit) -> str:
    if target.expires_at is None:
        return "The link does not expire."
    return f"The link expires on {_moment_text(target.expires_at)}; the visit is on {_moment_text(described.time)}."


def _clicks_left(_: Link, target: Target, __: DescribedVisit) -> str:
    if target.max_clicks is None:
        return "No click limit."
    return f"{target.clicks} of {target.max_clicks} clicks are used."


def _country(_: Link, target: Target, described: DescribedVisit) -> str:
    allowed, blocked = target.allowed_countries, target.blocked_countries
    if not allowed and not blocked:
        return "The link is available in all countries."
    lists = [
        f"{verb} {', '.join(countries)}"
        for verb, countries in (("allows", allowed), ("blocks", blocked))
        if countries
    ]
    country = described.visit.country
    visitors = "unknown, which is in no list" if country is None else country
    return f"The visitor's country is {visitors}; the link {' and '.join(lists)}."


def _device(_: Link, target: Target, described: DescribedVisit) -> str:
    if not target.allowed_devices:
        return "The link is available on all devices."
    allowed = ", ".join(target.allowed_devices)
    return f"The visitor's device is {described.visit.device}; the link allows {allowed}."


def password(target: Target, described: DescribedVisit) -> str:
    if target.password is None:
        return "The link has no password."
    entered = "has" if described.unlocked else "has not"
    return f"The link has a password, and the visitor {entered} entered it."


CHECKS_IN_WORDS: Mapping[str, CheckInWords] = {
    "active": _active,
    "started": _started,
    "not_expired": _not_expired,
    "clicks_left": _clicks_left,
    "country": _country,
    "device": _device,
}


Json = Mapping[str, Any]


def _condition_text(condition: Json) -> str:
    """Return for example ``country is DE or AT``."""
    kind = condition["type"]
    verb = "is not" if condition.get("not") else "is"
    if kind == "scanned":
        return f"the visit {verb} a scan"
    values = " or ".join(_VALUES.get(kind, str)(value) for value in condition["values"])
    return f"{_NAMES.get(kind, kind)} {verb} {values}"


def _visit_text(condition: Json, described: DescribedVisit) -> str:
    """Return what the visit has instead, for example ``it is FR``."""
    query = described.visit.query
    if condition["type"] == "query":
        return f"the query is {query}" if query else "the visit has no query"
    return f"it is {_PROPERTIES[condition['type']](condition, described)}"


_NAMES = {
    "os": "operating system",
    "referrerHost": "referrer's host",
    "query": "a parameter",
    "network": "address",
    "schedule": "local time",
}


def _parameter_text(value: Json) -> str:
    return value["name"] if value.get("value") is None else f"{value['name']}={value['value']}"


def _period_text(value: Json) -> str:
    moments = [
        f"{word} {_moment_text(datetime.fromisoformat(moment))}"
        for word, moment in (("from", value.get("from")), ("until", value.get("until")))
        if moment
    ]
    return " ".join(moments)


def _schedule_text(value: Json) -> str:
    return f"{', '.join(value['days'])} {value['from']}-{value['until']} {value['timezone']}"


_VALUES: Mapping[str, Callable[[Any], str]] = {
    "query": _parameter_text,
    "time": _period_text,
    "schedule": _schedule_text,
}


def _local_time(condition: Json, described: DescribedVisit) -> str:
    zone = condition["values"][0]["timezone"]
    local = described.time.astimezone(ZoneInfo(zone))
    return f"{DAYS[local.weekday()]} {local:%H:%M} {zone}"


def _referrer(_: Json, described: DescribedVisit) -> str:
    host = described.visit.referrer_host
    return DIRECT if host == "" else host or "unknown"


_PROPERTIES: Mapping[str, Callable[[Json, DescribedVisit], str]] = {
    "country": lambda _, described: described.visit.country or "unknown",
    "device": lambda _, described: described.visit.device,
    "os": lambda _, described: described.visit.operating_system or "unknown",
    "browser": lambda _, described: described.visit.browser or "unknown",
    "language": lambda _, described: described.visit.language or "unknown",
    "referrerHost": _referrer,
    "network": lambda _, described: described.visit.address or "unknown",
    "time": lambda _, described: _moment_text(described.time),
    "schedule": _local_time,
    "scanned": lambda _, described: "a scan" if described.visit.scanned else "no scan",
}


ChoiceInWords = Callable[[Link, Target, DescribedVisit, Route], str]


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
            texts = " and ".join(map(_condition_text, raw["conditions"]))
            return f"Rule {named} matches: {texts}."
        condition = raw["conditions"][failing]
        failures.append(
            f"rule {named} requires that {_condition_text(condition)} ({_visit_text(condition, described)})"
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
    elif link.is_dead and link.fallback_url is not None:
        name = "fallbackUrl of the link, because checks have found its own destination dead"
    else:
        name = "originalUrl of the link" if link.target_url is None else "targetUrl of the link"
    text = f"The destination is the {name}, {route.location}"
    router = router_of(target)
    if router is None or not router.forwards:
        return f"{text}."
    branches = [*(rule.route for rule in router.rules), *(variant.route for variant in router.variants)]
    own = next(own for own in (router.target, *branches) if own.branch == route.branch)
    return f"{text}, with {'no parameter' if own == route else 'parameters'} of the visitor."


CHOICES_IN_WORDS: Mapping[str, ChoiceInWords] = {"rule": _rule, "split": _split, "target": _target}


class Claimed(NamedTuple):
    refusal: Refusal | None
    detail: str


def claim(target: Target, visitor: Visitor) -> Claimed:
    """Say whether the visit could claim one of a capped link's clicks.

    The owner learns only whether an address has used up its clicks, not how many it has used: visitors' addresses are
    not in the reports.
    """
    if not target.is_capped:
        return Claimed(None, "No click limit.")
    if visitor.kind != "click":
        return Claimed(None, "The visit claims no click, because it would not count as one.")
    total, share = target.max_clicks, target.max_clicks_per_visitor
    texts = [] if total is None else [f"the visit claims click {target.clicks + 1} of {total}"]
    if share is not None:
        used = claimed_clicks(target.link_id, visitor_hashes(visitor.address)) if visitor.address else 0
        if used >= share:
            detail = (
                f"The address {visitor.address} has used up its clicks. The limit is {share} per visitor."
            )
            return Claimed(refusals.VISITOR_LIMIT_REACHED, detail)
        whose = f"the address {visitor.address}" if visitor.address else "an unknown address"
        texts.append(f"{whose} has not used up its clicks, of which each visitor has {share}")
    return Claimed(None, _sentence("; ".join(texts)))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


_KINDS = {
    "click": "the visit counts as a click",
    "head": "a HEAD request does not count as a click",
    "prefetch": "a prefetch does not count as a click",
    "crawler": "a crawler does not count as a click",
}


class Answer(NamedTuple):
    """The response to a visit that passed all checks.

    ``is_card``: it is the card of the link's preview, whatever its route.
    """

    status: int
    location: str | None
    detail: str
    is_card: bool = False


def answer_of(target: Target, described: DescribedVisit, route: Route) -> Answer:
    kind = described.visitor.kind
    if shows_card(target, described.visitor):
        detail = (
            "The response is a page with the link's preview, for the crawler of a messenger or social network"
        )
        return Answer(200, None, f"{detail}; {_KINDS[kind]}.", is_card=True)
    if target.is_capped and kind != "click":
        detail = "The response is a page without the destination, because the link has a click limit"
        return Answer(200, None, f"{detail}; {_KINDS[kind]}.")
    status = described.redirect_status(target.redirect_type)
    return Answer(
        status,
        route.location,
        f"The visitor is redirected to {route.location} with {status}; {_KINDS[kind]}.",
    )
