"""How a simulation explains rules, splits, forwarded parameters and previews."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from rest_framework.test import APIClient

from links.destinations.lookup import Target, read_target
from redirects.checks import router_of
from tests.redirects.simulation.simulated import DESTINATION, FOLLOWED, MakeLink, Simulate, detail, last


def rule(name: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "url": f"https://{name.lower()}.example/", "conditions": [*conditions]}


GERMANY = rule("Germany", {"type": "country", "values": ["DE", "AT"]}, {"type": "language", "values": ["de"]})
PHONES = rule("Phones", {"type": "device", "values": ["desktop"], "not": True})


def test_the_rule_that_matches_is_explained(api: APIClient, make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link(DESTINATION, rules=[GERMANY, PHONES])
    rules = api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["rules"]

    german = simulate(link, country="AT", language="de-AT,en;q=0.5", device="mobile")
    phone = simulate(link, country="AT", language="en", device="mobile")
    other = simulate(link, country="US")

    assert detail(german, "rule") == "Rule 1 “Germany” matches: country is DE or AT and language is de."
    assert detail(german, "target") == "The destination is the URL of the rule, https://germany.example/."
    assert german["outcome"] == {**FOLLOWED, "location": "https://germany.example/", "rule": rules[0]["_id"]}
    assert detail(phone, "rule") == "Rule 2 “Phones” matches: device is not desktop."
    assert phone["outcome"] == {**FOLLOWED, "location": "https://phones.example/", "rule": rules[1]["_id"]}
    assert detail(other, "rule") == (
        "No rule matches: rule 1 “Germany” requires that country is DE or AT (it is US);"
        " rule 2 “Phones” requires that device is not desktop (it is desktop)."
    )
    assert other["outcome"] == FOLLOWED


def test_the_target_of_a_link_is_explained(make_link: MakeLink, simulate: Simulate) -> None:
    simulation = simulate(make_link(DESTINATION, targetUrl="https://new.example/"))

    assert (
        detail(simulation, "target") == "The destination is the targetUrl of the link, https://new.example/."
    )
    assert simulation["outcome"] == {**FOLLOWED, "location": "https://new.example/"}


@pytest.mark.parametrize(
    ("condition", "visit", "text"),
    [
        ({"type": "os", "values": ["iOS"]}, {}, "operating system is iOS (it is Windows)"),
        ({"type": "browser", "values": ["Chrome"]}, {}, "browser is Chrome (it is Firefox)"),
        ({"type": "language", "values": ["pt-BR"]}, {}, "language is pt-BR (it is unknown)"),
        ({"type": "referrerHost", "values": ["example.org"]}, {}, "referrer's host is example.org (it is direct)"),
        (
            {"type": "referrerHost", "values": ["direct"]},
            {"referrer": "https://news.example.org/a?b"},
            "referrer's host is direct (it is news.example.org)",
        ),
        (
            {"type": "query", "values": [{"name": "a", "value": "1"}, {"name": "b"}]},
            {"query": "?c=2"},
            "a parameter is a=1 or b (the query is c=2)",
        ),
        (
            {"type": "network", "values": ["8.8.4.0/24"]},
            {"address": "::ffff:8.8.8.8"},
            "address is 8.8.4.0/24 (it is 8.8.8.8)",
        ),
        (
            {"type": "time", "values": [{"from": "2030-01-01T00:00:00Z", "until": "2030-02-01T00:00:00Z"}]},
            {"time": "2030-02-01T00:00:00Z"},
            "time is from 2030-01-01 at 00:00 UTC until 2030-02-01 at 00:00 UTC (it is 2030-02-01 at 00:00 UTC)",
        ),
        (
            {
                "type": "schedule",
                "values": [{"days": ["mon", "tue"], "from": "09:00", "until": "17:00", "timezone": "Europe/Berlin"}],
            },
            {"time": "2030-07-01T15:00:00Z"},
            "local time is mon, tue 09:00-17:00 Europe/Berlin (it is mon 17:00 Europe/Berlin)",
        ),
        ({"type": "scanned"}, {"query": "qr=2"}, "the visit is a scan (it is no scan)"),
    ],
)  # fmt: skip
def test_each_condition_is_explained_with_the_property_of_the_visit(
    make_link: MakeLink, simulate: Simulate, *, condition: dict[str, Any], visit: dict[str, Any], text: str
) -> None:
    simulation = simulate(make_link(rules=[rule("Rule", condition)]), **visit)

    assert detail(simulation, "rule") == f"No rule matches: rule 1 “Rule” requires that {text}."


def test_the_side_of_a_split_is_explained(api: APIClient, make_link: MakeLink, simulate: Simulate) -> None:
    split = [{"name": name, "url": f"https://{name}.example/", "weight": 30} for name in ("b", "c")]
    link = make_link(DESTINATION, split=split, rules=[PHONES])
    ids = [entry["_id"] for entry in api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["split"]]
    text = "The visitor's address and user agent fall into the"
    seen = {}
    for number in range(50):
        simulation = simulate(link, address=f"8.8.8.{number}")
        seen[detail(simulation, "split")] = (
            simulation["outcome"]["location"],
            simulation["outcome"]["variant"],
        )

    assert seen == {
        f"{text} 30 % for “b”.": ("https://b.example/", ids[0]),
        f"{text} 30 % for “c”.": ("https://c.example/", ids[1]),
        f"{text} 40 % for the target.": (DESTINATION, None),
    }
    assert detail(simulate(link, device="mobile"), "split") == (
        "The split does not apply, because a rule matches."
    )


def test_forwarded_parameters_are_explained(make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link("https://example.com/?a=1", forwardQuery=True)

    added = simulate(link, query="a=2&b=3")
    none = simulate(link, query="a=2&qr=1")

    assert detail(added, "target") == (
        "The destination is the originalUrl of the link, https://example.com/?a=1&b=3, with parameters of the visitor."
    )
    assert added["outcome"]["location"] == "https://example.com/?a=1&b=3"
    assert detail(none, "target") == (
        "The destination is the originalUrl of the link, https://example.com/?a=1, with no parameter of the visitor."
    )


def test_the_preview_of_a_link_is_explained(make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link(preview={"title": "Sale"}, rules=[rule("All", {"type": "scanned", "not": True})])

    simulation = simulate(link, userAgent="facebookexternalhit/1.1")

    assert last(simulation) == (
        "answer",
        True,
        "The response is a page with the link's preview, for the crawler of a messenger or social network;"
        " a crawler does not count as a click.",
    )
    assert simulation["outcome"] == {
        **FOLLOWED, "status": 200, "location": None, "counted": False, "kind": "crawler"
    }  # fmt: skip


@pytest.mark.parametrize("time", ["1970-01-01T00:00:00Z", "9998-12-31T23:59:59Z"])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_every_time_has_an_answer(make_link: MakeLink, simulate: Simulate, time: str, zone: str) -> None:
    hours = {"days": ["mon"], "from": "00:00", "until": "12:00", "timezone": zone}

    simulation = simulate(make_link(rules=[rule("Rule", {"type": "schedule", "values": [hours]})]), time=time)

    assert simulation["outcome"]["status"] == 302


def test_a_visit_with_text_of_any_language_is_read_like_a_real_one(
    make_link: MakeLink, simulate: Simulate
) -> None:
    link = make_link(rules=[rule("Rule", {"type": "query", "values": [{"name": "q", "value": "ä"}]})])

    for query in ("q=ä", "q=%C3%A4"):
        assert (
            simulate(link, query=query, userAgent="Mözilla/5.0 Firefox/145.0")["outcome"]["rule"] is not None
        )


def test_a_query_ends_at_a_hash(make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link("https://example.com/", forwardQuery=True, rules=[
        rule("Rule", {"type": "query", "values": [{"name": "c"}]})
    ])  # fmt: skip

    outcome = simulate(link, query="?a=1#b&c=2")["outcome"]

    assert outcome == {**FOLLOWED, "location": "https://example.com/?a=1"}


def test_a_long_language_header_is_cut_like_a_real_one(
    make_link: MakeLink, simulate: Simulate, visitor: Client
) -> None:
    link = make_link(rules=[rule("Rule", {"type": "language", "values": ["de"]})])
    header = "ä," * 150 + "de"  # 302 characters, and 452 bytes
    longer = "ä," * 180 + "de"  # 362 characters, and 542 bytes

    for language in (header, longer):
        sent = language.encode().decode("latin-1")
        response = visitor.get(f"/{link['shortCode']}", HTTP_ACCEPT_LANGUAGE=sent)
        assert simulate(link, language=language)["outcome"]["location"] == response["Location"]


def test_a_simulation_leaves_the_shared_schedules_alone(make_link: MakeLink, simulate: Simulate) -> None:
    hours = {"days": ["mon"], "from": "00:00", "until": "12:00", "timezone": "UTC"}
    link = make_link(rules=[rule("Rule", {"type": "schedule", "values": [hours]})])
    target = read_target(settings.BASE_HOST, link["shortCode"])
    assert isinstance(target, Target)
    router = router_of(target)
    assert router is not None
    router.next_change(1_800_000_000.0)
    active = router._active

    simulate(link, time="2030-01-07T06:00:00Z")

    assert router_of(target) is router
    assert router._active is active
