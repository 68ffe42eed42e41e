"""Ids and numbers of branches, and the history of the URLs to which they led."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.http.urls import canonical_destination
from links.models import Link, Route
from links.routing.columns import NUMBERS, merge_branches
from testing.links.calls import put, whole
from testing.links.deletion import delete_finally
from testing.links.many import URL, create_many
from testing.links.routing_fields import RULES, SPLIT
from testing.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]


def numbers(link: dict[str, Any]) -> dict[str, int]:
    stored = Link.objects.get(public_id=link["_id"])
    return {entry["_id"]: entry["number"] for entry in stored.rules + stored.split}


def history(link: dict[str, Any]) -> list[tuple[int, str, str, bool]]:
    """The number, name and URL of each period, and whether it has not ended."""
    link_id = Link.objects.get(public_id=link["_id"]).pk
    return [
        (route.number, route.name, route.url, route.until is None)
        for route in Route.objects.filter(link_id=link_id).order_by("number", "since")
    ]


def test_entry_keeps_its_id_and_number_if_the_id_is_sent_back(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(rules=RULES, split=SPLIT)
    before = numbers(link)
    first, second = whole(api, link)["rules"]
    put(api, link, rules=[{**second, "name": "renamed"}, {**RULES[0], "name": "new"}, first])
    after = numbers(link)
    assert [(rule["_id"], rule["name"]) for rule in whole(api, link)["rules"]][::2] == [
        (second["_id"], "renamed"),
        (first["_id"], "Germany"),
    ]
    assert {identifier: after[identifier] for identifier in before} == before
    [new] = after.keys() - before.keys()
    assert after[new] == 5


def test_lists_sent_again_without_ids_keep_ids_and_numbers(api: APIClient, make_link: MakeLink) -> None:
    conditions = [
        {"type": "network", "values": ["203.0.113.0/24"], "not": True},
        {"type": "query", "values": [{"name": "a", "value": "b"}, {"name": "c"}]},
        {"type": "time", "values": [{"from": "2030-01-01T00:00:00Z"}]},
        {
            "type": "schedule",
            "values": [{"days": ["mon"], "from": "09:00", "until": "17:00", "timezone": "Europe/Berlin"}],
        },
    ]
    rules = [{**RULES[0], "conditions": conditions}, *[RULES[1]] * 9]
    link = make_link(rules=rules, split=SPLIT)
    before, periods = whole(api, link), history(link)
    put(api, link, rules=rules, split=SPLIT)
    put(api, link, rules=rules)
    put(api, link, split=[{**SPLIT[1], "weight": 30}, {**SPLIT[0], "weight": 60}])
    after = whole(api, link)
    assert after["rules"] == before["rules"]
    assert [entry["_id"] for entry in after["split"]] == [entry["_id"] for entry in before["split"]][::-1]
    assert history(link) == periods


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "other"},
        {"url": "https://example.com/other"},
        {"conditions": [{"type": "scanned"}]},
        {"_id": "mine"},
    ],
)
def test_entry_without_the_id_that_differs_is_new(
    api: APIClient, make_link: MakeLink, changed: dict[str, Any]
) -> None:
    link = make_link(rules=RULES)
    before = [rule["_id"] for rule in whole(api, link)["rules"]]
    put(api, link, rules=[{**RULES[0], **changed}, RULES[1]])
    after = [rule["_id"] for rule in whole(api, link)["rules"]]
    assert after[0] not in before
    assert after[1] == before[1]


def test_an_id_has_priority_over_an_equal_entry(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(rules=[RULES[0]])
    [rule] = whole(api, link)["rules"]
    put(api, link, rules=[RULES[0], {**rule, "name": "renamed"}])
    equal, renamed = whole(api, link)["rules"]
    assert (renamed["_id"], renamed["name"]) == (rule["_id"], "renamed")
    assert equal["_id"] != rule["_id"]


def test_unknown_id_is_replaced(api: APIClient, make_link: MakeLink) -> None:
    other = whole(api, make_link(rules=RULES))["rules"][0]["_id"]
    link = make_link(rules=[{**RULES[0], "_id": other}, {**RULES[1], "_id": "mine"}])
    ids = [rule["_id"] for rule in whole(api, link)["rules"]]
    assert other not in ids
    assert "mine" not in ids
    put(api, link, rules=[{**RULES[0], "_id": ids[0]}, {**RULES[1], "_id": ids[0]}])
    again = [rule["_id"] for rule in whole(api, link)["rules"]]
    assert again[0] == ids[0]
    assert again[1] not in ids


def test_an_entry_can_move_from_the_rules_to_the_split(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(rules=RULES)
    before = numbers(link)
    rule = whole(api, link)["rules"][0]
    split = [{"_id": rule["_id"], "name": "moved", "url": rule["url"], "weight": 1}, SPLIT[0]]
    put(api, link, split=split)
    # The rules, which were not sent, keep their ids.
    assert rule["_id"] not in {variant["_id"] for variant in whole(api, link)["split"]}
    put(api, link, rules=None, split=split)
    assert numbers(link)[rule["_id"]] == before[rule["_id"]]


def test_numbers_are_used_again_in_the_order_in_which_they_became_free() -> None:
    def sent(count: int) -> list[dict[str, Any]]:
        return [{"name": "", "url": canonical_destination(URL), "weight": 1}] * count

    def stored(*taken: int) -> list[dict[str, Any]]:
        return [{"_id": f"{number:032x}", "number": number, "name": "other", "url": URL} for number in taken]

    def chosen(taken: list[int], count: int, freed: dict[int, Any]) -> list[int]:
        merged = merge_branches({"rules": stored(*taken), "split": []}, {"split": sent(count)}, freed)
        return [entry["number"] for entry in merged["split"]]

    now = timezone.now()
    moments = {number: now.replace(year=2000 + number) for number in (3, 1, 2)}
    assert chosen([], 3, {}) == [1, 2, 3]
    assert chosen([1, 3], 3, {}) == [2, 4, 5]
    assert chosen([4], 3, moments) == [5, 6, 7]
    assert chosen([*range(4, 14)], 5, moments) == [14, 15, 1, 2, 3]
    replaced = merge_branches(
        {"rules": stored(*NUMBERS), "split": []}, {"rules": sent(10), "split": sent(5)}, moments
    )
    assert sorted(entry["number"] for entry in replaced["rules"] + replaced["split"]) == [*NUMBERS]


def test_a_link_uses_all_numbers_before_it_uses_one_again(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    used = []
    for _ in range(9):
        put(api, link, split=SPLIT)
        used += numbers(link).values()
        put(api, link, split=None)
    assert used == [*NUMBERS, 1, 2, 3]


def test_history_of_branches(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(split=SPLIT)
    assert history(link) == [
        (1, "A", "https://a.example.com/", True),
        (2, "B", "https://b.example.com/", True),
    ]
    a, b = whole(api, link)["split"]
    put(api, link, split=[{**a, "weight": 1}, b])
    assert len(history(link)) == 2
    put(api, link, split=[{**a, "url": "https://c.example.com"}, {**b, "name": "B2"}])
    assert history(link) == [
        (1, "A", "https://a.example.com/", False),
        (1, "A", "https://c.example.com/", True),
        (2, "B2", "https://b.example.com/", True),
    ]
    put(api, link, split=None)
    assert history(link) == [
        (1, "A", "https://a.example.com/", False),
        (1, "A", "https://c.example.com/", False),
        (2, "B2", "https://b.example.com/", False),
    ]
    periods = list(Route.objects.filter(number=1).order_by("since"))
    assert periods[0].until == periods[1].since
    assert [period.branch.hex for period in periods if period.branch] == [a["_id"]] * 2


def test_history_of_the_target(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    put(api, link, title="x")
    assert history(link) == []
    for target in ("https://example.com/two", "https://example.com/two", "https://example.com/three", None):
        put(api, link, targetUrl=target)
    assert history(link) == [
        (0, "", URL, False),
        (0, "", "https://example.com/two", False),
        (0, "", "https://example.com/three", False),
        (0, "", URL, True),
    ]
    first = Route.objects.order_by("since")[0]
    assert first.since == Link.objects.get().created_at
    assert first.branch is None


def test_bulk_creation_writes_the_history(api: APIClient) -> None:
    created = create_many(api, [{"originalUrl": URL, "rules": RULES}, {"originalUrl": URL, "split": SPLIT}])
    assert [len(history(verdict["url"])) for verdict in created] == [2, 2]


def test_deleting_a_link_finally_deletes_its_history_only(alice: NewAccount, make_link: MakeLink) -> None:
    link, other = make_link(split=SPLIT), make_link(split=SPLIT)
    delete_finally(alice.workspace, link["_id"])
    assert len(history(other)) == Route.objects.count() == 2


def test_concurrent_updates_give_no_number_twice(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    bodies = [{"rules": RULES}, {"split": SPLIT}] * 4
    path = f"/api/urls/{link['_id']}"

    def update(body: dict[str, Any]) -> int:
        return int(api.put(path, body).status_code)

    assert at_once([partial(update, body) for body in bodies]) == [200] * 8
    stored = Link.objects.get()
    current = {entry["number"]: entry["href"] for entry in stored.rules + stored.split}
    assert len(current) == 4
    assert {number: url for number, _, url, is_current in history(link) if is_current} == current


def test_deleting_an_account_deletes_the_history_of_its_links(make_link: MakeLink, alice: NewAccount) -> None:
    make_link(split=SPLIT)
    alice.user.delete()
    assert not Route.objects.exists()


def test_plain_links_have_no_history(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    make_link(targetUrl="https://example.com/moved", notStartedUrl=URL)
    create_many(api, [{"originalUrl": URL}])
    assert not Route.objects.exists()
