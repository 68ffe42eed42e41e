"""One sentence for each check that can refuse a visit before its destination is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from bans.models import Ban
from bans.selectors import is_host_banned
from links.destinations.lookup import Target
from links.models import Link, LinkBan
from redirects.simulation.visits import DescribedVisit

Detail = Callable[[Link, Target, DescribedVisit], str]
# The pattern of the database function `links_ban_reason`.
_LEGAL = r"^\s*legal\s*$"


def moment_text(moment: datetime) -> str:
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
    return (
        f"The link starts on {moment_text(target.starts_at)}; the visit is on {moment_text(described.time)}."
    )


def _not_expired(_: Link, target: Target, described: DescribedVisit) -> str:
    if target.expires_at is None:
        return "The link does not expire."
    return f"The link expires on {moment_text(target.expires_at)}; the visit is on {moment_text(described.time)}."


def _clicks_left(_: Link, target: Target, __: DescribedVisit) -> str:
    if target.max_clicks is None:
        return "The link has no limit of clicks in total."
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


DETAILS: Mapping[str, Detail] = {
    "active": _active,
    "started": _started,
    "not_expired": _not_expired,
    "clicks_left": _clicks_left,
    "country": _country,
    "device": _device,
}
