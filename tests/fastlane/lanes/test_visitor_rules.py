"""The side table of compiled visitor rules."""

from __future__ import annotations

from fastlane.fast.visitor_rules import VisitorRules, VisitorRulesTable, pack_visitor_rules
from links.destinations.lookup import Target
from redirects import refusals
from redirects.router import Route
from redirects.visit import Visit
from testing.visitors.addresses import AMERICAN, BRITISH

NOW = 1_900_000_000.0


def packed(location: str, country: str = "US", headers: bytes = b"X: y\r\n\r\n") -> bytes:
    target = Target(1, "", location, 302, allowed_countries=(country,))
    return pack_visitor_rules(target, Route(location), headers)


def rules_of(table: VisitorRulesTable, rules: bytes) -> VisitorRules:
    return table.get(b"head of an answer" + rules, len(rules))


def test_links_in_one_table_keep_their_own_rules() -> None:
    table = VisitorRulesTable(100, 1_000_000)
    american, british = (
        rules_of(table, packed("https://us.example/")),
        rules_of(table, packed("https://uk.example/", "GB")),
    )

    answers = [
        rules.answer(Visit(address, ""), "click", NOW)
        for rules in (american, british)
        for address in (AMERICAN, BRITISH)
    ]
    assert answers == [
        (b"Location: https://us.example/\r\nX: y\r\n\r\n", 0), refusals.COUNTRY,
        refusals.COUNTRY, (b"Location: https://uk.example/\r\nX: y\r\n\r\n", 0),
    ]  # fmt: skip


def test_rules_are_compiled_once() -> None:
    table = VisitorRulesTable(100, 1_000_000)

    assert rules_of(table, packed("https://a.example/")) is rules_of(table, packed("https://a.example/"))


def test_the_bytes_of_compiled_rules_are_limited() -> None:
    table = VisitorRulesTable(1_000, 100_000)
    headers = b"X: " + b"y" * 3_000 + b"\r\n\r\n"
    every = [packed(f"https://{number:02}.example/", headers=headers) for number in range(20)]
    compiled = [rules_of(table, rules) for rules in every]

    # About 9,000 bytes each, in two generations of 50,000 bytes.
    kept = [rules_of(table, every[number]) is compiled[number] for number in (19, 18, 17, 0)]
    assert kept == [True, True, True, False]
