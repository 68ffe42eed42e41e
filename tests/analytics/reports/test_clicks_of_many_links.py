"""The log of requests for many links, compared with a plain loop over them, however it is read."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC
from random import Random
from threading import BoundedSemaphore
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from accounts import admission
from accounts.admission import PER_PROCESS, REPORTS_PER_WORKSPACE, TooManyAtOnce, costly_report
from accounts.services import NewAccount
from analytics.models import Kind
from analytics.reports import click_log, scope
from analytics.reports.periods import RequestedRange
from analytics.reports.selected import Clicks
from testing.accounts.keys import key_client, scoped_key
from testing.accounts.workspaces import team, token_client_in
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules
from tests.analytics.reading import report

MakeLink = Callable[..., dict[str, Any]]
DAYS = {"startDate": "2026-02-01", "endDate": "2026-03-03"}
# How many links count as few, and as some.
READINGS = [(100, 5_000), (0, 5_000), (0, 0)]


@pytest.fixture(params=READINGS, ids=["merged", "windows of the index", "windows of the table"])
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    few, some = request.param
    monkeypatch.setattr(click_log, "FEW_LINKS", few)
    monkeypatch.setattr(click_log, "SOME_LINKS", some)
    # Of few links, the log gets the links themselves.
    monkeypatch.setattr(scope, "FEW_LINKS", few)


def pages(
    api: APIClient, path: str = "/api/analytics/clicks", **query: Any
) -> Iterator[list[dict[str, Any]]]:
    cursor: dict[str, str] = {}
    for _ in range(200):
        response = api.get(path, {**DAYS, **query, **cursor})
        assert response.status_code == 200, response.json()
        data = response.json()["data"]
        assert len(data["clicks"]) <= data["pagination"]["limit"]
        yield data["clicks"]
        if data["pagination"]["nextCursor"] is None:
            return
        cursor = {"cursor": data["pagination"]["nextCursor"]}
    raise AssertionError


def walk(api: APIClient, **query: Any) -> list[tuple[str, str, str]]:
    return [(row["urlId"], row["time"], row["kind"]) for page in pages(api, **query) for row in page]


def facts(random: Random, number: int) -> list[Fact]:
    """Some share a minute, and days are empty."""
    made = []
    for _ in range(number):
        kind = random.choice([Kind.CLICK, Kind.CLICK, Kind.CRAWLER, Kind.REFUSED])
        time = (
            f"2026-0{random.choice(['2-05', '3-01', '3-02'])}T1{random.randrange(2)}:{random.randrange(3):02}"
        )
        made.append(
            Fact(
                f"{time}:{random.randrange(60):02}.{random.randrange(1, 1000):03}Z",
                random.choice(["DE", "US"]),
                device=random.choice(["mobile", "desktop"]),
                referrer=random.choice(["", "https://www.google.de/"]),
                kind=kind,
                reason="expired" if kind == Kind.REFUSED else "",
            )
        )
    return made


FILTERS: list[tuple[dict[str, str], Callable[[Fact], bool]]] = [
    ({}, lambda fact: True),
    ({"kind": "click"}, lambda fact: fact.kind == Kind.CLICK),
    ({"kind": "-click"}, lambda fact: fact.kind != Kind.CLICK),
    ({"country": "DE", "device": "-mobile"}, lambda fact: (fact.country, fact.device) == ("DE", "desktop")),
    ({"continent": "NA", "kind": "refused"}, lambda fact: (fact.country, fact.kind) == ("US", Kind.REFUSED)),
    ({"channel": "search", "os": "Linux"}, lambda fact: bool(fact.referrer)),
    ({"referrer": "unknown"}, lambda fact: False),
]


@pytest.mark.slow
@pytest.mark.usefixtures("reading")
def test_every_request_is_listed_once(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(2)
    links = [make_link(tags=[tag], utm={"source": tag}) for tag in ("a", "a", "b")]
    each: list[tuple[str, Fact]] = []
    for link in links:
        made = facts(random, 40)
        record(link["_id"], made)
        each += [(link["_id"], fact) for fact in made]
    stranger = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    record(stranger["_id"], facts(random, 30))
    ids = [link["_id"] for link in links]
    selections: list[tuple[dict[str, str], list[str]]] = [
        ({}, ids), ({"tags": "A"}, ids[:2]), ({"excludeTags": "a"}, ids[2:]), ({"utmSource": "-b"}, ids[:2]),
        ({"urlIds": f"{ids[0]},{stranger['_id']}"}, ids[:1]), ({"domainId": "base"}, ids), ({"tags": "c"}, []),
    ]  # fmt: skip
    for number, (selection, chosen) in enumerate(selections):
        for filters, holds in FILTERS if not number else (FILTERS[0], FILTERS[number]):
            wanted = sorted(
                (
                    (fact.time.replace("Z", "000Z"), link, fact)
                    for link, fact in each
                    if link in chosen and holds(fact)
                ),
                reverse=True,
            )
            listed = walk(api, limit=7, **selection, **filters)
            assert sorted(listed) == sorted(
                (link, time, fact.kind.name.lower()) for time, link, fact in wanted
            )
            assert [time for _, time, _ in listed] == [time for time, _, _ in wanted], (selection, filters)
            assert walk(strange_api, **{**selection, **filters, "urlIds": ids[0]}) == []
    # A page that may read little is short, but the log is complete.
    monkeypatch.setattr(click_log, "REACH", 5)
    monkeypatch.setattr(click_log, "WINDOW_REACH", 5)
    for query, holds in FILTERS[2:4]:
        assert len(walk(api, limit=9, **query)) == sum(holds(fact) for _, fact in each), query
    # The log of one link takes the same filters.
    for query, holds in FILTERS:
        log = [row["time"] for page in pages(api, f"/api/analytics/{ids[0]}/clicks", **query) for row in page]
        assert len(log) == sum(holds(fact) for link, fact in each if link == ids[0]), query
    assert report(api, ids[0], "/clicks", utmSource="b")["clicks"] == []


@time_machine.travel("2026-03-03T12:00Z")
@pytest.mark.usefixtures("reading")
def test_a_request_names_its_link(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    link = make_link(customCode="spring")
    record(link["_id"], [Fact("2026-01-01T10:00Z"), Fact("2026-03-01T10:00Z", scanned=True)])
    response = api.get("/api/analytics/clicks")
    # By default of the last 30 days, as the report.
    [row] = response.json()["data"]["clicks"]
    of_link = report(api, link["_id"], "/clicks", startDate="2026-03-01")["clicks"]
    assert [row] == [
        {
            "urlId": link["_id"],
            "shortUrl": link["shortUrl"].replace(link["shortCode"], "spring"),
            **of_link[0],
        }
    ]
    record(make_link()["_id"], [Fact("2026-03-03T11:59Z", count=30)])
    if click_log.FEW_LINKS:
        with django_assert_num_queries(3):  # the credential, the number of links, the page
            assert len(next(pages(api))) == 20
    # A link that was deleted leaves the log.
    api.delete(f"/api/urls/{link['_id']}")
    assert len(walk(api)) == 30


def test_a_cursor_belongs_to_its_workspace(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()["_id"]
    record(link, [Fact("2026-03-01T10:00Z", count=3)])
    query = {**DAYS, "limit": "1"}
    cursor = api.get("/api/analytics/clicks", query).json()["data"]["pagination"]["nextCursor"]
    of_link = report(api, link, "/clicks", limit=1)["pagination"]["nextCursor"]
    for client, path, used in (
        (strange_api, "/api/analytics/clicks", cursor),
        (api, f"/api/analytics/{link}/clicks", cursor),
        (api, "/api/analytics/clicks", of_link),
    ):
        assert broken_rules(client.get(path, {"cursor": used})) == [("cursor", "invalid")]
    assert len(api.get("/api/analytics/clicks", {**query, "cursor": cursor}).json()["data"]["clicks"]) == 1


def test_a_limited_key_lists_the_clicks_of_its_own_links(alice: NewAccount) -> None:
    workspace = team(alice)
    limited = key_client(scoped_key(workspace, alice.user, only_own=True).text)
    url = {"originalUrl": "https://example.com/"}
    others = token_client_in(workspace, alice.user).post("/api/urls", url).json()["data"]["url"]["_id"]
    own = limited.post("/api/urls", url).json()["data"]["url"]["_id"]
    for link in (others, own):
        record(link, [Fact("2026-03-01T10:00Z")])
    assert [link for link, _, _ in walk(limited)] == [own]
    assert walk(limited, urlIds=others) == []
    assert len(walk(token_client_in(workspace, alice.user))) == 2


def test_bad_queries_are_refused(api: APIClient) -> None:
    for query, rule in (
        ({"country": "XX"}, ("country", "value")),
        ({"kind": "visit"}, ("kind", "value")),
        ({"urlIds": "x"}, ("urlIds", "ids")),
        ({"limit": "101"}, ("limit", "max_value")),
        ({"cursor": "x"}, ("cursor", "invalid")),
        ({"period": "7d", "startDate": "2026-03-01"}, ("period", "conflict")),
        ({"contry": "DE"}, ("contry", "unknown_field")),
        ({"source": "news"}, ("source", "unknown_field")),
        ({"groupBy": "tag"}, ("groupBy", "unknown_field")),
        ({"country": ["DE", "US"]}, ("country", "repeated")),
    ):
        assert broken_rules(api.get("/api/analytics/clicks", query)) == [rule], query
    assert api.get("/api/analytics/clicks", {"domainId": str(uuid.uuid4())}).status_code == 404


def test_costly_reports_of_a_workspace_are_limited(
    api: APIClient,
    strange_api: APIClient,
    alice: NewAccount,
    make_link: MakeLink,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_link()
    with ExitStack() as running:
        monkeypatch.setattr(admission, "PROCESS_PLACES", BoundedSemaphore(REPORTS_PER_WORKSPACE + 1))
        for _ in range(REPORTS_PER_WORKSPACE):
            running.enter_context(costly_report(alice.user.pk))
        with pytest.raises(TooManyAtOnce), costly_report(alice.user.pk):
            pass
        refused = api.get("/api/analytics", {"country": "DE"})
        assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (
            429,
            "too_many_at_once",
            "2",
        )
        assert api.get("/api/analytics").status_code == 200
        assert strange_api.get("/api/analytics", {"country": "DE"}).status_code == 200
        monkeypatch.setattr(scope, "CHEAP_LINKS", 0)
        assert {api.get(path).status_code for path in ("/api/analytics", "/api/analytics/clicks")} == {429}
    assert api.get("/api/analytics", {"country": "DE"}).status_code == 200


def test_costly_reports_leave_a_thread_of_a_worker_to_others(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    make_link()
    with ExitStack() as running:
        for _ in range(PER_PROCESS):
            running.enter_context(costly_report(alice.user.pk))
        for client in (api, strange_api):
            refused = client.get("/api/analytics", {"country": "DE"})
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_at_once")
            assert client.get("/api/analytics").status_code == 200
    assert api.get("/api/analytics", {"country": "DE"}).status_code == 200


@pytest.mark.usefixtures("reading")
def test_a_log_that_is_being_read_has_no_link_that_has_moved_away(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    moved, kept = make_link()["_id"], make_link()["_id"]
    for link in (moved, kept):
        record(link, [Fact("2026-03-01T10:00Z")])
    chosen = scope.of_workspace(alice.workspace, scope.Selection())
    log = click_log.ClickLog(chosen, RequestedRange(None, None, UTC), Clicks(), name="x")
    body = {"ids": [moved], "workspaceId": str(team(alice).public_id)}
    assert api.post("/api/urls/move", body, format="json").status_code == 200
    assert [str(click.link_id) for click in log.read(10)] == [kept]
