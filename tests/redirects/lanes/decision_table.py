"""The features of the decision table: properties of the link, of the visit, or of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from analytics.journal.capture import record_claimed_click
from analytics.visitors.visitor import visitor_from
from bans.models import Ban
from domains.models import DomainStatus
from links.destinations.lookup import read_target
from links.models import ClickCounter, Link
from links.operators import ban_link
from redirects.password import remember_unlocked
from testing.redirects.following import FUTURE, PAST
from testing.visitors.addresses import AMERICAN
from testing.visitors.agents import FIREFOX, GOOGLEBOT

ORIGINAL, TARGET = "https://example.com/page?page=1", "https://target.example/new"
# The API requires that a link starts before it expires.
BEFORE_PAST, BEFORE_FUTURE = "2019-01-01T00:00:00Z", "2098-01-01T00:00:00Z"
EARLY, LATE, FALLBACK = "https://early.example/", "https://late.example/", "https://fallback.example/"
SPLIT = ("https://split.example/b", "https://split.example/c")
BANNED, LEGALLY_BANNED = "banned.example", "legal.example"
# Hosts of the account's domains. The second one has a URL for expired links.
OLD_HOST, OWN_HOST, DOMAIN_LATE = "old.example.net", "own.example.net", "https://domain-late.example/"
SOCIAL = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
Json = dict[str, Any]


class Feature(NamedTuple):
    """``refusal``: check, status and reason, if the feature alone refuses the visit. ``in_lane``: whether the fast
    lane answers it. ``setup`` runs once the link exists, and returns further header fields.
    """

    name: str
    link: Json = {}
    refusal: tuple[str, int, str] | None = None
    headers: dict[str, str] = {}
    query: str = ""
    method: str = "GET"
    in_lane: bool = False
    setup: Callable[[Link], dict[str, str] | None] = lambda _: None


def _rule(name: str, *conditions: Json) -> Json:
    return {"name": name, "url": f"https://rule.example/{quote(name)}", "conditions": [*conditions]}


def _never(host: str) -> Json:
    """A rule that no visitor of the table matches."""
    return {
        "name": host,
        "url": f"https://{host}/",
        "conditions": [{"type": "network", "values": ["192.0.2.0/24"]}],
    }


def _ban(link: Link) -> None:
    ban_link(link=link, reason="Phishing.")


def _ban_legally(link: Link) -> None:
    ban_link(link=link, reason="Legal")


def _ban_host(link: Link) -> None:
    Ban.objects.get_or_create(host=BANNED)


def _ban_host_legally(link: Link) -> None:
    Ban.objects.get_or_create(host=LEGALLY_BANNED, defaults={"reason": "legal"})


def _deactivate_domain(link: Link) -> None:
    assert link.domain is not None
    link.domain.status = DomainStatus.INACTIVE
    link.domain.save()


def _use_up(link: Link) -> None:
    ClickCounter.objects.filter(pk=link.pk).update(clicks=5)


def _find_dead(link: Link) -> None:
    link.is_dead = True
    link.save()


def _claim(link: Link) -> None:
    visitor = visitor_from({"REMOTE_ADDR": AMERICAN, "HTTP_USER_AGENT": FIREFOX}, "GET", ())
    record_claimed_click(visitor, link.pk, is_shared=True)


def _unlock(link: Link) -> dict[str, str]:
    target: Any = read_target("sho.rt" if link.domain is None else link.domain.host, link.short_code)
    response = HttpResponse()
    remember_unlocked(response, HttpRequest(), target, link.short_code)
    return {"Cookie": "; ".join(f"{name}={cookie.value}" for name, cookie in response.cookies.items())}


_OTHER_DAY = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[
    (datetime.now(UTC) + timedelta(days=3)).weekday()
]
_ALL_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_HOURS = {"from": "00:00", "until": "00:00", "timezone": "UTC"}
# For each type: values that match the visit of the table, values that do not, and what the visit needs.
CONDITIONS: dict[str, tuple[list[Any], list[Any], Json]] = {
    "country": (["US"], ["JP", "DE"], {}),
    "device": (["desktop"], ["mobile", "tablet"], {}),
    "os": (["linux"], ["Windows"], {}),
    "browser": (["Chrome", "FIREFOX"], ["Safari"], {}),
    "language": (["en"], ["de", "en-GB"], {}),
    "referrerHost": (["example.org"], ["direct", "ample.org"], {"headers": {"Referer": "https://news.example.org/a"}}),
    "query": ([{"name": "colour", "value": "red"}], [{"name": "colour", "value": "Red"}], {"query": "colour=red"}),
    "network": (["8.8.8.0/24"], ["2001:db8::/32"], {}),
    "time": ([{"from": PAST}], [{"until": PAST}, {"from": FUTURE}], {}),
    "schedule": ([{"days": _ALL_DAYS, **_HOURS}], [{"days": [_OTHER_DAY], **_HOURS}], {}),
    "scanned": ([], [], {}),
}  # fmt: skip


def _condition_features() -> Iterable[Feature]:
    for kind, (matching, others, visit) in CONDITIONS.items():
        is_scan = kind == "scanned"
        scan = {"query": "qr=1"} if is_scan else {}
        condition = {"type": kind} if is_scan else {"type": kind, "values": matching}
        other = {"type": kind} if is_scan else {"type": kind, "values": others}
        yield Feature(
            f"{kind} matches", {"rules": [_rule(kind, condition)]}, in_lane=True, **{**visit, **scan}
        )
        yield Feature(f"{kind} differs", {"rules": [_rule(f"not {kind}", other)]}, in_lane=True, **visit)
        yield Feature(
            f"{kind} negated", {"rules": [_rule(f"{kind} negated", {**other, "not": True})]}, in_lane=True, **visit
        )  # fmt: skip


FEATURES = (
    Feature("plain", in_lane=True),
    Feature("disabled", {"isActive": False}, ("active", 410, "disabled")),
    Feature("banned", {}, ("active", 410, "disabled"), setup=_ban),
    Feature("branch banned", {"rules": [_never(BANNED)]}, ("active", 410, "disabled"), setup=_ban_host),
    Feature("legal ban", {}, ("active", 451, "legal"), setup=_ban_legally),
    Feature(
        "branch legally banned", {"rules": [_never(LEGALLY_BANNED)]}, ("active", 451, "legal"), setup=_ban_host_legally
    ),
    Feature(
        "inactive domain", {"domainId": OLD_HOST}, ("active", 410, "disabled"), {"Host": OLD_HOST},
        setup=_deactivate_domain,
    ),
    Feature("own domain", {"domainId": OWN_HOST}, headers={"Host": OWN_HOST}, in_lane=True),
    Feature("started", {"startsAt": BEFORE_PAST}, in_lane=True),
    Feature("not started", {"startsAt": BEFORE_FUTURE}, ("started", 404, "not_started")),
    Feature(
        "not started, with a URL", {"startsAt": BEFORE_FUTURE, "notStartedUrl": EARLY}, ("started", 404, "not_started")
    ),
    Feature("expires later", {"expiresAt": FUTURE}, in_lane=True),
    Feature("expired", {"expiresAt": PAST}, ("not_expired", 410, "expired")),
    Feature("expired, with a URL", {"expiresAt": PAST, "expiredUrl": LATE}, ("not_expired", 410, "expired")),
    Feature("URL after the end", {"expiredUrl": LATE}, in_lane=True),
    Feature("used up", {"restrictions": {"maxClicks": 5}}, ("clicks_left", 410, "limit_reached"), setup=_use_up),
    Feature("capped", {"restrictions": {"maxClicks": 5}}),
    Feature("capped per visitor", {"restrictions": {"maxClicksPerVisitor": 2}}),
    Feature(
        "used up by the visitor", {"restrictions": {"maxClicksPerVisitor": 1}},
        ("claim", 403, "visitor_limit_reached"), setup=_claim,
    ),
    Feature("country allowed", {"restrictions": {"allowedCountries": ["US"]}}, in_lane=True),
    Feature(
        "country blocked", {"restrictions": {"blockedCountries": ["US"]}}, ("country", 403, "country"), in_lane=True
    ),
    Feature("device allowed", {"restrictions": {"allowedDevices": ["desktop"]}}, in_lane=True),
    Feature(
        "device not allowed", {"restrictions": {"allowedDevices": ["mobile"]}}, ("device", 403, "device"), in_lane=True
    ),
    Feature("password", {"password": "secret"}, ("password", 401, "password")),
    Feature("password entered", {"password": "secret"}, setup=_unlock),
    *_condition_features(),
    Feature("split", {"split": [{"name": url[-1], "url": url, "weight": 50} for url in SPLIT]}, in_lane=True),
    Feature("target", {"targetUrl": TARGET}, in_lane=True),
    Feature("dead", setup=_find_dead, in_lane=True),
    Feature("dead, with a fallback", {"fallbackUrl": FALLBACK}, setup=_find_dead, in_lane=True),
    Feature("query forwarded", {"forwardQuery": True}, query="page=2&a=1", in_lane=True),
    Feature("referrer policy", {"referrerPolicy": "no-referrer"}, in_lane=True),
    Feature("utm", {"utm": {"source": "news"}}, in_lane=True),
    Feature("permanent", {"redirectType": 301}, in_lane=True),
    Feature("preview", {"preview": {"title": "Sale"}}, headers={"User-Agent": SOCIAL}, in_lane=True),
    Feature("preview of a browser", {"preview": {"title": "Sale"}}, in_lane=True),
    Feature("HEAD", method="HEAD", in_lane=True),
    Feature("POST", method="POST"),
    Feature("prefetch", headers={"Sec-Purpose": "prefetch"}, in_lane=True),
    Feature("crawler", headers={"User-Agent": GOOGLEBOT}, in_lane=True),
)  # fmt: skip
