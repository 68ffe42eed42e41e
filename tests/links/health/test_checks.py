"""From the setting of a link or its workspace to the place where visitors go."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from events.models import Event, Listener
from links.destinations.lookup import read_target
from links.health import checks
from links.health.checks import Checks, Enlisting
from links.health.states import Result, Verdict
from links.models import Link, LinkHealth
from links.operators import ban_link
from testing.accounts.workspaces import team
from testing.outbound.servers import answering

pytestmark = pytest.mark.django_db(transaction=True)

FALLBACK = "https://fallback.example/"
MakeLink = Callable[..., dict[str, Any]]


def run_checks(hours: float = 0) -> None:
    """Let the clock of the checks advance, and check what is due then."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE links_linkhealth SET due_at = due_at - %(time)s, failing_since = failing_since - %(time)s,"
            " checked_at = checked_at - %(time)s",
            {"time": timedelta(hours=hours)},
        )
    call_command("check_destinations", "--once")


def health(api: APIClient, link: dict[str, Any]) -> tuple[str, str | None]:
    shown = api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["health"]
    return shown["status"], shown["problem"]


def kill(server: Any) -> None:
    server.manner = answering("404 Not Found")
    for _ in range(3):
        run_checks(hours=13)


@pytest.fixture
def checked(server: Any, make_link: MakeLink) -> dict[str, Any]:
    """A permanent link to the server, with a fallback, that is checked daily."""
    server.manner = answering()
    return make_link(
        f"http://127.0.0.1:{server.port}/page", healthCheck="daily", fallbackUrl=FALLBACK, redirectType=301,
        utm={"source": "news"},
    )  # fmt: skip


def test_visitors_go_to_the_fallback_while_the_destination_is_dead(
    api: APIClient, alice: NewAccount, visitor: Client, server: Any, checked: dict[str, Any]
) -> None:
    Listener.objects.create(
        workspace=alice.workspace, feed_types=["destination.unhealthy", "destination.recovered"]
    )
    own = f"http://127.0.0.1:{server.port}/page?utm_source=news"
    code, path = checked["shortCode"], f"/api/urls/{checked['_id']}"

    def seen() -> tuple[int, str]:
        response = visitor.get(f"/{code}")
        return response.status_code, response["Location"]

    run_checks()
    assert health(api, checked) == ("healthy", None)
    assert seen() == (301, own)
    server.manner = answering("404 Not Found")
    for _ in range(2):
        run_checks(hours=26)
        assert health(api, checked) == ("healthy", "404")
        assert seen() == (301, own)
    run_checks(hours=13)
    assert health(api, checked) == ("dead", "404")
    assert seen() == (302, f"{FALLBACK}?utm_source=news")
    simulated = api.post(f"{path}/simulate", {}).json()["data"]
    assert simulated["outcome"]["location"] == f"{FALLBACK}?utm_source=news"
    [detail] = [step["detail"] for step in simulated["steps"] if step["check"] == "target"]
    assert detail == (
        "The destination is the fallbackUrl of the link, because checks have found its own destination dead,"
        f" {FALLBACK}?utm_source=news."
    )
    server.manner = answering()
    run_checks(hours=26)
    assert health(api, checked) == ("healthy", None)
    assert seen() == (301, own)
    events = Event.objects.order_by("position")
    assert [
        (event.type, event.data["problem"], event.data["url"], event.data["link"]["id"]) for event in events
    ] == [
        ("destination.unhealthy", "404", own.partition("?")[0], checked["_id"]),
        ("destination.recovered", None, own.partition("?")[0], checked["_id"]),
    ]


def test_the_ledger_of_visits_says_which_destination_was_served(
    api: APIClient, visitor: Client, server: Any, checked: dict[str, Any]
) -> None:
    def visit() -> None:
        visitor.get(f"/{checked['shortCode']}")
        call_command("drain_clicks", "--once")

    visit()
    kill(server)
    visit()
    api.put(f"/api/urls/{checked['_id']}", {"fallbackUrl": "https://other.example/"})
    visit()
    server.manner = answering()
    run_checks(hours=26)
    visit()
    log = api.get(f"/api/analytics/{checked['_id']}/clicks").json()["data"]["clicks"]
    own = f"http://127.0.0.1:{server.port}/page"
    assert [click["location"] for click in log] == [own, "https://other.example/", FALLBACK, own]


@pytest.mark.parametrize(
    ("changes", "status", "location"),
    [
        ({"targetUrl": "https://new.example/"}, "unknown", "https://new.example/?utm_source=news"),
        ({"healthCheck": "off"}, "unknown", None),
        ({"healthCheck": None}, "unknown", None),
        ({"healthCheck": "weekly"}, "dead", f"{FALLBACK}?utm_source=news"),
        ({"title": "New"}, "dead", f"{FALLBACK}?utm_source=news"),
        ({"fallbackUrl": None}, "dead", None),
    ],
)
def test_a_change_of_the_destination_or_the_end_of_checks_ends_the_death(
    api: APIClient, visitor: Client, server: Any, checked: dict[str, Any],
    changes: dict[str, Any], status: str, location: str | None,
) -> None:  # fmt: skip
    kill(server)
    assert health(api, checked)[0] == "dead"
    assert api.put(f"/api/urls/{checked['_id']}", changes).status_code == 200
    assert health(api, checked)[0] == status
    own = f"http://127.0.0.1:{server.port}/page?utm_source=news"
    assert visitor.get(f"/{checked['shortCode']}")["Location"] == (location or own)


def test_links_follow_the_default_of_their_workspace(
    api: APIClient, alice: NewAccount, visitor: Client, server: Any, make_link: MakeLink
) -> None:
    server.manner = answering("404 Not Found")
    url, workspace = f"http://127.0.0.1:{server.port}/", f"/api/workspaces/{alice.workspace.public_id}"
    link, other = make_link(url, fallbackUrl=FALLBACK), make_link(url, healthCheck="off")
    run_checks(hours=48)
    assert server.requests == []
    assert (
        api.patch(workspace, {"healthCheck": "daily"}).json()["data"]["workspace"]["healthCheck"] == "daily"
    )
    for _ in range(4):
        run_checks(hours=26)
    assert [health(api, each) for each in (link, other)] == [("dead", "404"), ("unknown", None)]
    assert visitor.get(f"/{link['shortCode']}")["Location"] == FALLBACK
    api.patch(workspace, {"healthCheck": "off"})
    assert health(api, link)[0] == "unknown"
    # The processes of a host hear of it by the notification of the trigger.
    target: Any = read_target("sho.rt", link["shortCode"])
    assert target.location == url
    server.requests.clear()
    run_checks(hours=48)
    assert server.requests == []
    assert LinkHealth.objects.filter(due_at=None).count() == 1


def test_each_link_of_a_workspace_is_enlisted_once(
    alice: NewAccount,
    make_link: MakeLink,
    django_assert_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    links = {Link.objects.get(public_id=make_link()["_id"]).pk for _ in range(3)}
    Workspace.objects.filter(pk=alice.workspace.pk).update(health_check="weekly")
    enlisting = Enlisting()
    for _ in range(4):
        enlisting.go_on()
    assert set(LinkHealth.objects.values_list("pk", flat=True)) == links
    due = list(LinkHealth.objects.order_by("pk").values_list("due_at", flat=True))
    # Looks through the links again only after a rest.
    with django_assert_num_queries(1):
        assert not enlisting.go_on()
    monkeypatch.setattr(checks, "monotonic", lambda: monotonic() + 601)
    with django_assert_num_queries(2):
        assert enlisting.go_on()
    assert list(LinkHealth.objects.order_by("pk").values_list("due_at", flat=True)) == due


def test_two_hosts_share_the_links_that_are_due(make_link: MakeLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_LEASED", 4)
    for _ in range(6):
        make_link(healthCheck="weekly")
    leased = [Checks().lease_due() for _ in range(3)]
    assert [len(batch) for batch in leased] == [4, 2, 0]
    assert len({link.link_id for batch in leased for link in batch}) == 6


def test_the_many_links_of_a_host_do_not_delay_those_of_others(make_link: MakeLink) -> None:
    for number in range(6):
        make_link(f"https://shop{number}.example.com/", healthCheck="daily")
    other = make_link("https://other.example/", healthCheck="daily")
    leased = Checks().lease_due()
    chosen = checks.choose(leased)
    assert [link.destination for link in chosen] == [
        *(f"https://shop{number}.example.com/" for number in range(3)),
        other["originalUrl"],
    ]
    planned = LinkHealth.objects.exclude(pk__in=[link.link_id for link in chosen]).order_by("due_at")
    times = [health.due_at - planned[0].due_at for health in planned]
    assert times == [timedelta(seconds=4 * number) for number in range(3)]
    # A second batch continues where the first one ends.
    LinkHealth.objects.filter(pk=planned[0].pk).update(due_at=leased[0].due_at)
    checks.choose([leased[0]] * 3 + [link for link in leased if link.link_id == planned[0].pk])
    last = LinkHealth.objects.exclude(pk__in=[link.link_id for link in chosen]).order_by("-due_at")
    assert last[0].due_at - last[1].due_at == timedelta(seconds=4)


def test_workspaces_take_turns_and_what_somebody_asked_for_comes_first(
    api: APIClient,
    alice: NewAccount,
    stranger: NewAccount,
    strange_api: APIClient,
    make_link: MakeLink,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checks, "_CHECKED", 3)
    monkeypatch.setattr(checks, "_LEASED", 6)
    links = [make_link(f"https://shop{number}.example/", healthCheck="daily")["_id"] for number in range(5)]
    body = {"originalUrl": "https://other.example/", "healthCheck": "daily"}
    strange_api.post("/api/urls", body)
    strange_api.post("/api/urls", {**body, "originalUrl": "https://another.example/"})
    LinkHealth.objects.update(due_at=timezone.now() - timedelta(days=1))
    LinkHealth.objects.filter(owner_id=alice.workspace.pk).update(due_at=timezone.now() - timedelta(days=9))
    api.post("/api/urls/check", {"ids": [links[4]]})
    leased = Checks().lease_due()
    # Two of five for each of two workspaces, after the one that was asked for.
    both = {alice.workspace.pk, stranger.workspace.pk}
    owners = [link.owner_id for link in leased]
    assert [owners[0], set(owners[1:3]), set(owners[3:])] == [alice.workspace.pk, both, both]
    assert len(leased) == 5
    assert str(Link.objects.get(pk=leased[0].link_id).public_id) == links[4]
    assert checks.choose(leased) == leased[:3]
    # The others are due again at once.
    now = timezone.now()
    assert LinkHealth.objects.filter(due_at__lte=now).count() == 4


def test_a_lease_begins_after_the_workspace_that_had_the_last_turn(
    alice: NewAccount, stranger: NewAccount, make_link: MakeLink, strange_api: APIClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(checks, "_LEASED", 1)
    monkeypatch.setattr(checks, "_WORKSPACES", 1)
    for number in range(3):
        make_link(f"https://shop{number}.example/", healthCheck="daily")
    for number in range(2):
        body = {"originalUrl": f"https://other{number}.example/", "healthCheck": "daily"}
        strange_api.post("/api/urls", body)
    process = Checks()
    owners = [link.owner_id for _ in range(6) for link in process.lease_due()]
    first, second = sorted((alice.workspace.pk, stranger.workspace.pk))
    assert owners[:4] == [first, second] * 2
    assert owners[4:] == [alice.workspace.pk]


def test_workspaces_take_turns_if_not_all_due_links_are_looked_at(
    alice: NewAccount, stranger: NewAccount, make_link: MakeLink, strange_api: APIClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in ("_LEASED", "_WORKSPACES", "_SOONEST", "_LOOKED_AT"):
        monkeypatch.setattr(checks, name, 1)
    for number in range(3):
        make_link(f"https://shop{number}.example/", healthCheck="daily")
    strange_api.post("/api/urls", {"originalUrl": "https://other.example/", "healthCheck": "daily"})
    first, second = sorted((alice.workspace.pk, stranger.workspace.pk))
    LinkHealth.objects.filter(owner_id=alice.workspace.pk).update(due_at=timezone.now() - timedelta(days=9))
    tomorrow = timezone.now() + timedelta(days=1)
    LinkHealth.objects.create(link_id=2**40, owner_id=second + 1, due_at=tomorrow)
    process = Checks()
    owners = [link.owner_id for _ in range(8) for link in process.lease_due()]
    assert owners[:2] == [first, second]
    assert sorted(owners) == sorted([alice.workspace.pk] * 3 + [stranger.workspace.pk])


@pytest.mark.parametrize("state", ["disabled", "expired", "banned", "scheduled"])
def test_a_link_that_nobody_can_follow_is_checked_only_on_request(
    api: APIClient, server: Any, checked: dict[str, Any], state: str
) -> None:
    link, now = Link.objects.filter(public_id=checked["_id"]), timezone.now()
    if state == "banned":
        ban_link(link=link.get())
    else:
        link.update(
            **{
                "disabled": {"is_active": False},
                "expired": {"expires_at": now},
                "scheduled": {"starts_at": now + timedelta(days=30)},
            }[state]
        )
    run_checks()
    assert bool(server.requests) == (state == "scheduled")
    server.requests.clear()
    # It is not in the way of others.
    assert not LinkHealth.objects.filter(due_at__lt=now + timedelta(hours=23)).exists()
    assert api.post("/api/urls/check", {"ids": [checked["_id"]]}).status_code == 202
    run_checks()
    assert health(api, checked) == ("healthy", None)
    assert len(server.requests) > 0


def test_a_link_takes_its_checks_to_another_workspace(alice: NewAccount, checked: dict[str, Any]) -> None:
    Link.objects.update(owner=team(alice))
    [leased] = Checks().lease_due()
    assert leased.owner_id == Link.objects.get().owner_id != alice.workspace.pk


def test_a_check_that_fails_does_not_delay_others(
    api: APIClient, server: Any, checked: dict[str, Any], make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_link("https://broken.example/", healthCheck="daily")

    def check(url: str) -> Result:
        if "broken" in url:
            raise ValueError
        return Result(Verdict.HEALTHY)

    monkeypatch.setattr(checks, "check", check)
    run_checks()
    assert [health(api, link) for link in (checked, other)] == [("healthy", None), ("unknown", None)]
    assert not LinkHealth.objects.filter(checked_at=None).exists()


def test_checks_under_way_end_with_the_default_of_the_workspace(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    link, path = make_link(), f"/api/workspaces/{alice.workspace.public_id}"
    api.patch(path, {"healthCheck": "daily"})
    Enlisting().go_on()
    LinkHealth.objects.update(
        due_at=timezone.now(), failures=2, failing_since=timezone.now() - timedelta(days=2)
    )
    [leased] = Checks().lease_due()
    api.patch(path, {"healthCheck": "off"})
    checks.record(leased, Result(Verdict.FAILED, "404"))
    assert health(api, link)[0] == "unknown"
    assert LinkHealth.objects.get().due_at is None


def test_a_result_for_a_former_destination_is_dropped(api: APIClient, checked: dict[str, Any]) -> None:
    [leased] = Checks().lease_due()
    api.put(f"/api/urls/{checked['_id']}", {"targetUrl": "https://new.example/"})
    checks.record(leased, Result(Verdict.BLOCKED, "403"))
    assert health(api, checked) == ("unknown", None)


def test_a_deleted_link_is_not_checked_and_keeps_its_health_until_it_is_gone(
    api: APIClient, visitor: Client, server: Any, checked: dict[str, Any]
) -> None:
    kill(server)
    api.delete(f"/api/urls/{checked['_id']}")
    server.requests.clear()
    run_checks(hours=26)
    assert server.requests == []
    # It is not in the way of others.
    assert not LinkHealth.objects.filter(due_at__lt=timezone.now() + timedelta(hours=23)).exists()
    api.post(f"/api/urls/{checked['_id']}/undelete")
    assert health(api, checked)[0] == "dead"
    assert visitor.get(f"/{checked['shortCode']}")["Location"] == f"{FALLBACK}?utm_source=news"
    api.delete(f"/api/urls/{checked['_id']}")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM links_deletedlink")
    assert not LinkHealth.objects.exists()


def test_nothing_is_dead_or_checked_if_outbound_is_off(
    api: APIClient, server: Any, checked: dict[str, Any], settings: Settings
) -> None:
    kill(server)
    call_command("housekeeping", "--once")
    assert health(api, checked)[0] == "dead"
    settings.OUTBOUND = False
    call_command("housekeeping", "--once")
    assert health(api, checked)[0] == "unknown"
    assert not Link.objects.get().is_dead
    with pytest.raises(CommandError, match=r"OUTBOUND is off\."):
        call_command("check_destinations", "--once")
