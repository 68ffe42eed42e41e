"""What a link with rules and a split should answer, written independently of the service."""

from __future__ import annotations

import sys
from datetime import date, datetime, timedelta
from hashlib import blake2b
from math import log
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings

from common.secrets import derive_key
from testing.visitors.addresses import AMERICAN, BRITISH, JAPANESE, NOWHERE
from testing.visitors.agents import FIREFOX, GOOGLEBOT, MOBILE, TABLET, TWITTERBOT

LOCATION = "https://example.com/page?next=/home&utm_source=news#end"
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
# What the model knows about visitors.
COUNTRIES = {AMERICAN: "US", BRITISH: "GB", JAPANESE: "JP", NOWHERE: None}
AGENTS = {
    FIREFOX: ("desktop", "linux", "firefox"),
    MOBILE: ("mobile", "ios", "safari"),
    TABLET: ("tablet", "ios", "safari"),
    GOOGLEBOT: ("desktop", None, "googlebot"),
    TWITTERBOT: ("desktop", None, "twitterbot"),
}
LANGUAGES = {
    "": None,
    "de-AT,de;q=0.9": "de-at",
    "en-US,en;q=0.5": "en-us",
    "fr;q=0.1, pt-BR;q=0.8": "pt-br",
    "*": None,
}
REFERRERS = {
    "": "direct",
    "https://news.example.org/a": "news.example.org",
    "https://example.net/": "example.net",
}
QUERIES: dict[str, list[tuple[str, str]]] = {
    "": [],
    "a=1": [("a", "1")],
    "a=2&b=2": [("a", "2"), ("b", "2")],
    "qr=1": [("qr", "1")],
    "b=%C3%A4&qr=1&next=//evil.example": [("b", "ä"), ("qr", "1"), ("next", "//evil.example")],
}  # fmt: skip
NETWORKS = {
    "8.8.8.0/24": [AMERICAN],
    "0.0.0.0/0": [AMERICAN, BRITISH, JAPANESE, NOWHERE],
    "2001:db8::/32": [],
}
LINK, CODE = 4711, "spring"


class Visitor(NamedTuple):
    address: str
    agent: str
    language: str
    referrer: str
    query: str
    method: str


def holds(condition: dict[str, Any], visitor: Visitor, now: datetime) -> bool:
    return condition["not"] != any(
        has(condition["type"], value, visitor, now) for value in condition["values"] or [None]
    )


def has(kind: str, value: Any, visitor: Visitor, now: datetime) -> bool:
    device, system, browser = AGENTS[visitor.agent]
    match kind:
        case "country":
            return COUNTRIES[visitor.address] == value
        case "device":
            return device == value
        case "os":
            return system == value.lower()
        case "browser":
            return browser == value.lower()
        case "language":
            language = LANGUAGES[visitor.language]
            return language is not None and f"{language}-".startswith(f"{value.lower()}-")
        case "referrerHost":
            return f".{REFERRERS[visitor.referrer]}".endswith(f".{value}")
        case "query":
            parameters = QUERIES[visitor.query]
            return any(
                name == value["name"] and text == value.get("value", text) for name, text in parameters
            )
        case "network":
            return visitor.address in NETWORKS[value]
        case "scanned":
            return ("qr", "1") in QUERIES[visitor.query]
        case "time":
            texts = {side: datetime.fromisoformat(text) for side, text in value.items()}
            return texts.get("from", now) <= now < texts.get("until", now + timedelta(1))
        case _:
            return is_scheduled(value, now)


def is_scheduled(schedule: dict[str, Any], now: datetime) -> bool:
    """Compare the wall clock with the openings of today and yesterday."""
    clock = now.astimezone(ZoneInfo(schedule["timezone"])).replace(tzinfo=None)
    for day in (clock.date(), clock.date() - timedelta(1)):
        opens, closes = at(day, schedule["from"]), at(day, schedule["until"])
        if closes <= opens:
            closes += timedelta(1)
        if DAYS[day.weekday()] in schedule["days"] and opens <= clock < closes:
            return True
    return False


def at(day: date, clock: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}")


def answer_of_model(link: dict[str, Any], visitor: Visitor, now: datetime) -> tuple[str, int] | None:
    """The location, or the reason of a refusal, and the branch; None if Django answers."""
    if (link["starts_at"] and now < link["starts_at"]) or (link["expires_at"] and now >= link["expires_at"]):
        return None
    country, device = COUNTRIES[visitor.address], AGENTS[visitor.agent][0]
    if country in link["blocked_countries"] or (
        link["allowed_countries"] and country not in link["allowed_countries"]
    ):
        return "country", 0
    if link["allowed_devices"] and device not in link["allowed_devices"]:
        return "device", 0
    if link["preview"] and visitor.agent == TWITTERBOT:
        return None
    location, branch = choice(link, visitor, now)
    return (forwarded(location, visitor.query) if link["forward"] else location), branch


def choice(link: dict[str, Any], visitor: Visitor, now: datetime) -> tuple[str, int]:
    for rule in link["rules"]:
        if all(holds(condition, visitor, now) for condition in rule["conditions"]):
            return f"{rule['href']}?utm_source=news", rule["number"]
    key = derive_key(settings.SECRET_KEY, "split")
    digest = blake2b(f"{LINK}|{visitor.address}|{visitor.agent}".encode(), digest_size=32, key=key).digest()
    places = {0: (LOCATION, 100 - sum(variant["weight"] for variant in link["split"]))} | {
        variant["number"]: (f"{variant['href']}?utm_source=news", variant["weight"])
        for variant in link["split"]
    }

    def wait(number: int) -> float:
        """The time that an exponential distribution has for the visitor's draw, at the pace of the weight."""
        draw = int.from_bytes(digest[2 * number : 2 * number + 2], sys.byteorder)
        return -log((draw + 0.5) / 65_536) / places[number][1]

    winner = min((number for number, (_, weight) in places.items() if weight), key=lambda at: (wait(at), at))
    return places[winner][0], winner


def forwarded(location: str, query: str) -> str:
    own = {"qr", "utm_source"} | ({"next"} if location == LOCATION else set())
    added = [piece for piece in query.split("&") if piece and piece.split("=")[0] not in own]
    address, hash_mark, fragment = location.partition("#")
    return "&".join([address, *added]) + hash_mark + fragment
