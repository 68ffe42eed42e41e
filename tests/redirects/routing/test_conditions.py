from __future__ import annotations

from typing import Any

from links.routing.conditions import CONDITION_TYPES
from redirects.rule_conditions import compile_condition
from redirects.visit import Visit
from testing.cases import for_each
from testing.visitors.addresses import AMERICAN, BRITISH, NOWHERE
from testing.visitors.agents import FIREFOX, MOBILE, TABLET

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z, a Friday


def visit(**fields: Any) -> Visit:
    return Visit(**{"address": AMERICAN, "user_agent": FIREFOX, **fields})


CASES: list[tuple[str, list[Any], dict[str, Any], bool]] = [
    ("country", ["DE", "US"], {}, True),
    ("country", ["DE", "GB"], {}, False),
    ("country", ["GB"], {"address": BRITISH}, True),
    ("country", ["US"], {"address": NOWHERE}, False),
    ("country", ["US"], {"address": ""}, False),
    ("country", ["DE"], {"country": "DE"}, True),
    ("device", ["desktop"], {}, True),
    ("device", ["mobile", "tablet"], {}, False),
    ("device", ["mobile", "tablet"], {"user_agent": MOBILE}, True),
    ("device", ["tablet"], {"user_agent": TABLET}, True),
    ("device", ["tablet"], {"device": "tablet"}, True),
    ("os", ["Linux"], {}, True),
    ("os", ["linux"], {}, True),
    ("os", ["iOS", "macOS"], {}, False),
    ("os", ["ios"], {"user_agent": MOBILE}, True),
    ("os", ["unknown"], {"user_agent": "x"}, False),
    ("browser", ["Firefox"], {}, True),
    ("browser", ["FIREFOX"], {}, True),
    ("browser", ["Safari"], {}, False),
    ("browser", ["Safari"], {"user_agent": MOBILE}, True),
    ("browser", ["unknown"], {"user_agent": ""}, False),
    ("language", ["de"], {"accept_language": "de-AT,en;q=0.5"}, True),
    ("language", ["fr", "de-AT"], {"accept_language": "de-at"}, True),
    ("language", ["en"], {"accept_language": "de-AT,en;q=0.5"}, False),
    ("language", ["de-AT"], {"accept_language": "de"}, False),
    ("language", ["de"], {"accept_language": "deu"}, False),
    ("language", ["de"], {"accept_language": "*"}, False),
    ("language", ["de"], {}, False),
    ("referrerHost", ["example.org"], {"referrer": "https://example.org/page"}, True),
    ("referrerHost", ["example.org"], {"referrer": "https://NEWS.Example.ORG:8443/page"}, True),
    ("referrerHost", ["news.example.org"], {"referrer": "https://example.org/"}, False),
    ("referrerHost", ["example.org"], {"referrer": "https://notexample.org/"}, False),
    ("referrerHost", ["example.org"], {"referrer": "https://example.org.evil.example/"}, False),
    ("referrerHost", ["example.org", "direct"], {}, True),
    ("referrerHost", ["example.org"], {}, False),
    ("referrerHost", ["direct"], {"referrer": "https://www.direct/"}, False),
    ("referrerHost", ["direct"], {"referrer": "nonsense"}, False),
    ("referrerHost", ["example.org"], {"referrer": "http://[::1"}, False),
    ("referrerHost", ["example.org"], {"referrer": "https://" + "a." * 500 + "example.org/"}, True),
    ("referrerHost", ["example.org", "direct"], {"referrer": "https://" + "." * 500 + "/"}, False),
    ("query", [{"name": "a"}], {"query": "b=1&a"}, True),
    ("query", [{"name": "a"}], {"query": "b=a"}, False),
    ("query", [{"name": "a"}], {}, False),
    ("query", [{"name": "a", "value": "1"}], {"query": "a=2&a=1"}, True),
    ("query", [{"name": "a", "value": "1"}], {"query": "a=2"}, False),
    ("query", [{"name": "a", "value": ""}], {"query": "a"}, True),
    ("query", [{"name": "ä b", "value": "ö&"}], {"query": "%C3%A4+b=%C3%B6%26"}, True),
    ("query", [{"name": "A"}], {"query": "a=1"}, False),
    ("query", [{"name": "x"}, {"name": "a"}], {"query": "a=1"}, True),
    ("query", [{"name": "x"}, {"name": "a", "value": "1"}], {"query": "a=1"}, True),
    ("query", [{"name": "a", "value": "1"}], {"query": "&".join(["a"] * 1000) + "&a=1"}, False),
    ("network", ["8.8.0.0/16"], {}, True),
    ("network", ["10.0.0.0/8", "8.8.8.8/32"], {}, True),
    ("network", ["10.0.0.0/8"], {}, False),
    ("network", ["2001:db8::/32"], {"address": "2001:db8::1"}, True),
    ("network", ["2001:db8::/32"], {}, False),
    ("network", ["0.0.0.0/0", "::/0"], {"address": ""}, False),
    ("scanned", [], {"scanned": True}, True),
    ("scanned", [], {}, False),
    ("time", [{"from": "2027-01-15T08:00:00Z"}], {}, True),
    ("time", [{"until": "2027-01-15T08:00:00Z"}], {}, False),
    ("time", [{"until": "2020-01-01T00:00:00Z"}, {"from": "2027-01-01T00:00:00Z"}], {}, True),
    ("schedule", [{"days": ["fri"], "from": "09:00", "until": "10:00", "timezone": "Europe/Berlin"}], {}, True),
    ("schedule", [{"days": ["fri"], "from": "09:00", "until": "10:00", "timezone": "UTC"}], {}, False),
]  # fmt: skip


@for_each(("kind", "values", "fields", "holds"), CASES)
def test_a_condition_holds_for_one_of_its_values(
    kind: str, values: list[Any], fields: dict[str, Any], holds: bool
) -> None:
    raw = {"type": kind, "values": values}

    assert compile_condition({**raw, "not": False}).holds(visit(**fields), NOW) == holds
    assert compile_condition({**raw, "not": True}).holds(visit(**fields), NOW) != holds


def test_every_type_is_covered() -> None:
    assert {kind for kind, *_ in CASES} == set(CONDITION_TYPES)


def test_the_next_change_is_the_first_of_all_values() -> None:
    values = [{"from": "2027-03-01T00:00:00Z"}, {"until": "2027-02-01T00:00:00Z"}]

    assert compile_condition({"type": "time", "values": values}).next_change(NOW) == 1_801_440_000.0
