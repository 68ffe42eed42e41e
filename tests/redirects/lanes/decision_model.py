"""A model in plain Python of what a visit with features of the decision table leads to.

It knows nothing of the service's checks: it compares the places of two refusals in the documented order, and picks the
location by the documented precedence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.redirects.lanes.decision_table import (
    CONDITIONS,
    DOMAIN_LATE,
    ORIGINAL,
    OWN_HOST,
    SOCIAL,
    SPLIT,
    Feature,
    Json,
)

ORDER = ("active", "started", "not_expired", "clicks_left", "country", "device", "password", "claim")


class Expected(NamedTuple):
    """``locations``: the possible values of the header; the empty text is a response without it. ``policy``: the
    `Referrer-Policy` of a redirect.
    """

    status: int
    reason: str | None
    locations: tuple[str, ...]
    in_lane: bool
    policy: str | None = None


# No link or visit has both: a link is on one domain, starts before it expires, and has one ban of its own at most; a
# password is entered or not. A program that posts has no cookie. A request has one method.
_CONTRADICTIONS = (
    ({"banned"}, {"legal ban"}),
    ({"inactive domain"}, {"own domain"}),
    ({"not started", "not started, with a URL"}, {"expired", "expired, with a URL"}),
    ({"password"}, {"password entered"}),
    ({"POST"}, {"HEAD", "password entered"}),
)


def is_possible(features: Iterable[Feature]) -> bool:
    names = {feature.name for feature in features}
    return not any(names & one and names & other for one, other in _CONTRADICTIONS)


def merged(features: Iterable[Feature]) -> Feature:
    """All features in one link and visit. A later value replaces an earlier one of the same name."""
    link: Json = {}
    for feature in features:
        for name, value in feature.link.items():
            if name == "rules":
                link["rules"] = [*link.get("rules", []), *value]
            elif name == "restrictions":
                link["restrictions"] = {**link.get("restrictions", {}), **value}
            else:
                link[name] = value
    return Feature(
        " and ".join(feature.name for feature in features),
        {"originalUrl": ORIGINAL, **link},
        headers={name: value for feature in features for name, value in feature.headers.items()},
        query="&".join(feature.query for feature in features if feature.query),
        method=next((feature.method for feature in features if feature.method != "GET"), "GET"),
        in_lane=all(feature.in_lane for feature in features),
    )


def kind_of(visit: Feature) -> str:
    if visit.method == "HEAD":
        return "head"
    if "Sec-Purpose" in visit.headers:
        return "prefetch"
    return "crawler" if "User-Agent" in visit.headers else "click"


def expected(features: Iterable[Feature]) -> Expected:
    """What the visit leads to, by the documented order and precedence."""
    visit = merged(features)
    refusal = _first_refusal(features, visit)
    if refusal is not None:
        check, status, reason = refusal
        url = visit.link.get("notStartedUrl") if check == "started" else None
        if check in ("not_expired", "clicks_left"):
            url = visit.link.get(
                "expiredUrl", DOMAIN_LATE if visit.link.get("domainId") == OWN_HOST else None
            )
        if url:
            return Expected(
                _redirect_status(302, visit), reason, (url,), False, visit.link.get("referrerPolicy")
            )
        return Expected(status, reason, ("",), visit.in_lane and check in ("country", "device"))
    is_capped = {"maxClicks", "maxClicksPerVisitor"} & set(visit.link.get("restrictions", {}))
    if _shows_card(visit) or (is_capped and kind_of(visit) != "click"):
        return Expected(200, None, ("",), False)
    locations = tuple(_complete(url, visit) for url in _destinations(visit))
    status = _redirect_status(
        302 if "fallbackUrl" in visit.link else visit.link.get("redirectType", 302), visit
    )
    return Expected(status, None, locations, visit.in_lane, visit.link.get("referrerPolicy"))


def _redirect_status(status: int, visit: Feature) -> int:
    return 303 if visit.method == "POST" else status


def _first_refusal(features: Iterable[Feature], visit: Feature) -> tuple[str, int, str] | None:
    refusals = [feature.refusal for feature in features if feature.refusal is not None]
    # A legal ban takes precedence over another reason why the link is not active.
    refusals.sort(key=lambda refusal: (ORDER.index(refusal[0]), -refusal[1]))
    # Only a click is claimed.
    return next((r for r in refusals if r[0] != "claim" or kind_of(visit) == "click"), None)


def _shows_card(visit: Feature) -> bool:
    is_crawler = visit.headers.get("User-Agent") == SOCIAL
    return is_crawler and "preview" in visit.link and "password" not in visit.link


def _destinations(visit: Feature) -> tuple[str, ...]:
    """The URL of the first rule that matches, or else each side of the split, or else the target."""
    for rule in visit.link.get("rules", ()):
        if all(_holds(condition, visit) for condition in rule["conditions"]):
            return (rule["url"],)
    # Every link of the table with a fallback is dead.
    own = visit.link.get("fallbackUrl") or visit.link.get("targetUrl", ORIGINAL)
    return SPLIT if "split" in visit.link else (own,)


def _holds(condition: Json, visit: Feature) -> bool:
    kind = condition["type"]
    names = visit.query.split("&")
    agent = visit.headers.get("User-Agent")
    actual: dict[str, bool] = {
        # The crawlers of the table have no known system, and no browser of the lists.
        "os": agent is None,
        "browser": agent is None,
        "scanned": "qr=1" in names,
        "query": "colour=red" in names,
        "referrerHost": "Referer" in visit.headers,
    }
    if kind == "scanned":
        holds = actual[kind]
    elif condition["values"] == CONDITIONS.get(kind, ([], [], {}))[0]:
        holds = actual.get(kind, True)
    else:
        holds = False
    return holds != condition.get("not", False)


def _complete(url: str, visit: Feature) -> str:
    if "utm" in visit.link:
        url += f"{'&' if '?' in url else '?'}utm_source=news"
    if visit.link.get("forwardQuery"):
        own = {piece.partition("=")[0] for piece in url.partition("?")[2].split("&")} | {"qr"}
        for piece in visit.query.split("&"):
            if piece and piece.partition("=")[0] not in own:
                url += f"{'&' if '?' in url else '?'}{piece}"
    return url
