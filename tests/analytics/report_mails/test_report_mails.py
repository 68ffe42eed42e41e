"""Reports by mail, sent to a real mail server: who gets which, once, and how to end them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from typing import Any

import pytest
from django.db import OperationalError
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.admission import TooManyAtOnce
from accounts.mails import deliver
from accounts.models import Member, User
from accounts.rights import Role
from accounts.services import NewAccount
from accounts.workspaces import delete_workspace
from analytics.models import DayTotal, MailedReport, ReportMail
from analytics.report_mails import due
from analytics.report_mails.due import ATTEMPTS, RETRY_MINUTES, send_due, send_due_reports
from analytics.report_mails.mails import report_mail
from analytics.reports.costs import ReportTooSlow
from links.models import ClickCounter, Link
from shortener_project.configuration.env import parse_mail_url
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.shared_reports import reader
from testing.polling import DEADLINE
from testing.refusals import broken_rules
from testing.sign_in.smtp import MailServer, mail_server
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]
ADDRESS = "/api/analytics/report-mails"
NOTHING = {"weekly": False, "monthly": False, "alerts": False, "isAvailable": True}
# A Monday and the first of a month, after the mails of both are due.
MONDAY = date(2030, 4, 1)
NOW = datetime(2030, 4, 1, 7, tzinfo=UTC)
SUNDAY = MONDAY - timedelta(days=1)


@pytest.fixture(autouse=True)
def server(settings: Settings) -> Iterator[MailServer]:
    settings.SENDS_MAIL = True
    with mail_server() as server:
        for name, value in parse_mail_url(server.url).settings.items():
            setattr(settings, name, value)
        settings.EMAIL_TIMEOUT = DEADLINE
        yield server


def choose(api: APIClient, **choices: bool) -> dict[str, Any]:
    response = api.put(ADDRESS, choices)
    assert response.status_code == 200, response.json()
    ReportMail.objects.update(created_at=NOW - timedelta(days=400))
    chosen: dict[str, Any] = response.json()["data"]["reportMails"]
    return chosen


def count(link: dict[str, Any], clicks: dict[date, int]) -> None:
    pk = Link.objects.get(public_id=link["_id"]).pk
    DayTotal.objects.bulk_create(
        DayTotal(link_id=pk, day=day, slot=0, clicks=number, unique_clicks=number // 2)
        for day, number in clicks.items()
    )
    ClickCounter.objects.filter(link_id=pk).update(clicks=sum(clicks.values()))


def part(mail: EmailMessage, kind: str) -> str:
    body = mail.get_body((kind,))
    assert body is not None
    return str(body.get_content())


def path_of(mail: EmailMessage) -> str:
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    found = re.fullmatch(r"<http://sho\.rt(/reports/unsubscribe/\S+)>", mail["List-Unsubscribe"].strip())
    assert found is not None
    return found[1]


@pytest.mark.django_db
def test_members_choose_for_themselves(
    api: APIClient, alice: NewAccount, stranger: NewAccount, strange_api: APIClient
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    own, others = (key_client_in(workspace, account.api_key) for account in (alice, stranger))
    assert own.get(ADDRESS).json()["data"]["reportMails"] == NOTHING
    assert choose(own, weekly=True, alerts=True) == {**NOTHING, "weekly": True, "alerts": True}
    assert choose(own, alerts=False, monthly=True) == {**NOTHING, "weekly": True, "monthly": True}
    # What was read can be sent back.
    assert own.put(ADDRESS, own.get(ADDRESS).json()["data"]["reportMails"]).status_code == 200
    # Neither another member nor another workspace is concerned.
    for client in (others, api, strange_api):
        assert client.get(ADDRESS).json()["data"]["reportMails"] == NOTHING
    assert broken_rules(own.put(ADDRESS, {"weekly": "yes"})) == [("weekly", "invalid")]
    assert broken_rules(own.put(ADDRESS, {"wekly": True})) == [("wekly", "unknown_field")]
    assert choose(own, weekly=False, monthly=False) == NOTHING
    assert ReportMail.objects.count() == 0


@pytest.mark.django_db
def test_without_a_mail_server_nothing_can_be_chosen(api: APIClient, settings: Settings) -> None:
    choose(api, weekly=True)
    settings.SENDS_MAIL = False
    assert api.get(ADDRESS).json()["data"]["reportMails"]["isAvailable"] is False
    response = api.put(ADDRESS, {"alerts": True})
    assert (response.status_code, response.json()["code"]) == (409, "no_mail")
    assert send_due_reports() == 0
    assert api.put(ADDRESS, {"weekly": False}).status_code == 200
    assert ReportMail.objects.count() == 0


@pytest.mark.django_db
def test_a_week_and_a_month_are_mailed_once(
    api: APIClient, alice: NewAccount, make_link: MakeLink, server: MailServer
) -> None:
    link = make_link(title="Spring <sale>")
    count(link, {SUNDAY: 1_234, MONDAY - timedelta(days=8): 100, date(2030, 3, 1): 6})
    choose(api, weekly=True, monthly=True)
    # Before six o'clock, the last clicks may not be counted.
    assert send_due(NOW.replace(hour=5)) == 2
    for _ in range(2):
        server.next_mail()
    assert MailedReport.objects.filter(period=date(2030, 3, 18)).exists()
    assert [send_due(NOW), send_due(NOW), send_due(NOW + timedelta(days=3))] == [2, 0, 0]
    week, month = server.next_mail(), server.next_mail()
    assert (week["To"], week["Auto-Submitted"]) == (alice.user.email, "auto-generated")
    assert week["Subject"] == "[sho.rt] Your week: 1,234 clicks"
    text, html = part(week, "plain"), part(week, "html")
    assert "March 25, 2030 – March 31, 2030" in text  # noqa: RUF001 # the dash of a range
    for line in ("Clicks: 1,234", "Period before: 100", "Daily unique visitors: 617", "Spring <sale>: 1,234"):
        assert line in text
    report = f"http://sho.rt/dashboard/analytics?workspace={alice.workspace.public_id}&range=custom"
    days = "start=2030-03-25&end=2030-03-31&zone=UTC"
    assert f"{report}&{days}" in text.split()
    assert f'href="{report}&{days}"'.replace("&", "&amp;") in html
    assert f"{report}&start=2030-03-01&end=2030-03-31&zone=UTC" in part(month, "plain").split()
    assert "Spring &lt;sale&gt;" in html
    assert not re.search(r"<(?:script|img|link)|url\(", html)
    assert month["Subject"] == "[sho.rt] Your month: 1,340 clicks"
    # The next week, in the language of the account.
    User.objects.filter(pk=alice.user.pk).update(language="de")
    assert send_due(NOW + timedelta(days=7)) == 1
    german = server.next_mail()
    assert german["Subject"] == "[sho.rt] Ihre Woche: 0 Klicks"
    assert ("Abbestellen" in part(german, "html"), "1. April 2030" in part(german, "plain")) == (True, True)


@pytest.mark.django_db
def test_who_subscribes_later_waits_for_the_next_period(api: APIClient, server: MailServer) -> None:
    choose(api, weekly=True)
    ReportMail.objects.update(created_at=datetime.combine(MONDAY, datetime.min.time(), UTC))
    assert [send_due(NOW), send_due(NOW + timedelta(days=7))] == [0, 1]
    assert "Your week" in server.next_mail()["Subject"]


@pytest.mark.django_db
def test_former_members_and_switched_off_accounts_get_nothing(
    alice: NewAccount, stranger: NewAccount, server: MailServer
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    for account in (alice, stranger):
        choose(key_client_in(workspace, account.api_key), weekly=True)
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    Member.objects.filter(workspace=workspace, user=stranger.user).delete()
    assert send_due(NOW) == 0
    assert [row.user_id for row in ReportMail.objects.all()] == [alice.user.pk]
    User.objects.filter(pk=alice.user.pk).update(is_active=True)
    assert send_due(NOW) == 1
    assert server.next_mail()["To"] == alice.user.email
    delete_workspace(workspace=workspace, actor=alice.user)
    assert (ReportMail.objects.count(), MailedReport.objects.count()) == (0, 0)


@pytest.mark.django_db
def test_a_mail_server_that_refuses_is_tried_again(api: APIClient, server: MailServer) -> None:
    choose(api, weekly=True)
    server.answers["DATA"] = "451 later"
    assert [send_due(NOW), send_due(NOW)] == [0, 0]
    assert MailedReport.objects.get().attempts == 1
    later = NOW + timedelta(minutes=RETRY_MINUTES)
    server.answers.clear()
    assert [send_due(later), send_due(later + timedelta(hours=9))] == [1, 0]
    assert "Your week" in server.next_mail()["Subject"]
    # Not for ever.
    server.answers["DATA"] = "550 refused"
    next_week = NOW + timedelta(days=7)
    for hours in range(2 * ATTEMPTS):
        assert send_due(next_week + timedelta(hours=4 * hours)) == 0
    assert MailedReport.objects.latest("period").attempts == ATTEMPTS


@pytest.mark.django_db
def test_a_mail_server_that_is_gone_is_tried_once_for_all(
    alice: NewAccount, stranger: NewAccount, settings: Settings, server: MailServer
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    for account in (alice, stranger):
        choose(key_client_in(workspace, account.api_key), weekly=True)
    port = settings.EMAIL_PORT
    with mail_server() as gone:
        pass
    settings.EMAIL_PORT = int(gone.url.rpartition(":")[2])
    assert (send_due(NOW), MailedReport.objects.count()) == (0, 1)
    settings.EMAIL_PORT = port
    assert [send_due(NOW), send_due(NOW + timedelta(hours=1))] == [1, 1]


@pytest.mark.django_db
def test_a_report_that_cannot_be_read_now_is_mailed_later(
    alice: NewAccount, stranger: NewAccount, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    for account in (alice, stranger):
        choose(key_client_in(workspace, account.api_key), weekly=True)
    week = timedelta(days=7)
    errors = [ReportTooSlow(), TooManyAtOnce(8), OperationalError()]
    for number, error in enumerate(errors):
        # Of the first member only.
        failures = [error]

        def read(*given: Any, failures: list[Exception] = failures) -> Any:
            if failures:
                raise failures.pop()
            return report_mail(*given)

        monkeypatch.setattr(due, "report_mail", read)
        now = NOW + number * week
        later = now + timedelta(minutes=RETRY_MINUTES)
        if isinstance(error, OperationalError):
            with pytest.raises(OperationalError):
                send_due(now)
            assert [send_due(now), send_due(later), send_due(later)] == [1, 1, 0]
        else:
            assert [send_due(now), send_due(now), send_due(later), send_due(later)] == [1, 0, 1, 0]
        mailed = [server.next_mail()["To"] for _ in range(2)]
        assert mailed == [stranger.user.email, alice.user.email]


@pytest.mark.django_db
def test_who_leaves_or_unsubscribes_during_a_run_gets_nothing(
    alice: NewAccount, stranger: NewAccount, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    for account in (alice, stranger):
        choose(key_client_in(workspace, account.api_key), weekly=True, monthly=True)
    later = ReportMail.objects.get(user=stranger.user)
    leaving = [
        lambda: ReportMail.objects.filter(pk=later.pk).update(weekly=False),
        lambda: Member.objects.filter(workspace=workspace, user=stranger.user).delete(),
    ]

    def deliver_and_leave(mail: Any) -> Any:
        if leaving:
            leaving.pop(0)()
        return deliver(mail)

    monkeypatch.setattr(due, "deliver", deliver_and_leave)
    assert send_due(NOW) == 2
    assert {server.next_mail()["To"] for _ in range(2)} == {alice.user.email}
    assert MailedReport.objects.filter(report_mail_id=later.pk).count() == 0


@pytest.mark.django_db(transaction=True)
def test_several_hosts_send_each_mail_once(
    alice: NewAccount, stranger: NewAccount, server: MailServer
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.VIEWER)
    for account in (alice, stranger):
        choose(key_client_in(workspace, account.api_key), weekly=True)
    sent = at_once([lambda: send_due(NOW)] * 4)
    assert sum(sent) == 2
    assert {server.next_mail()["To"] for _ in range(2)} == {alice.user.email, stranger.user.email}
    assert server._received.empty()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("today", "yesterday", "usual", "kinds"),
    [
        (60, 20, 20, ["spike"]),
        (59, 20, 20, []),
        # With few usual clicks, the least number counts. Without any, as in a new workspace, nothing is unusual.
        (60, 0, 1, ["spike"]),
        (6_000, 0, 0, []),
        (299, 34, 100, []),
        (300, 34, 100, ["spike"]),
        (0, 33, 100, ["drop"]),
        (0, 0, 19, []),
        (300, 33, 100, ["spike", "drop"]),
    ],
)
def test_alerts_tell_of_three_times_the_usual(
    api: APIClient,
    make_link: MakeLink,
    server: MailServer,
    today: int,
    yesterday: int,
    usual: int,
    kinds: list[str],
) -> None:
    clicks = {MONDAY: today, SUNDAY: yesterday}
    for weeks in range(1, 5):
        # The median of four weeks ignores one that was unusual itself.
        for day in (MONDAY, SUNDAY):
            clicks[day - timedelta(weeks=weeks)] = 5_000 if weeks == 2 else usual
    count(make_link(), clicks)
    choose(api, alerts=True)
    assert [send_due(NOW), send_due(NOW + timedelta(hours=5))] == [len(kinds), 0]
    subjects = [server.next_mail()["Subject"] for _ in kinds]
    names = {"spike": "[sho.rt] Many more clicks than usual", "drop": "[sho.rt] Far fewer clicks than usual"}
    assert subjects == [names[kind] for kind in kinds]


@pytest.mark.django_db
def test_one_click_ends_one_kind_of_mail(
    api: APIClient, alice: NewAccount, settings: Settings, server: MailServer
) -> None:
    choose(api, weekly=True, monthly=True)
    send_due(NOW)
    weekly, monthly = path_of(server.next_mail()), path_of(server.next_mail())
    browser = reader()
    page = browser.get(weekly)
    assert (page.status_code, page.cookies) == (200, {})
    assert "Do you want no more weekly reports?" in page.content.decode()
    assert browser.head(weekly).status_code == 200
    assert api.get(ADDRESS).json()["data"]["reportMails"]["weekly"] is True
    # As a mail program sends it, and again.
    for _ in range(2):
        done = browser.post(weekly, {"List-Unsubscribe": "One-Click"})
        assert (done.status_code, "You get no more of these mails." in done.content.decode()) == (200, True)
        assert api.get(ADDRESS).json()["data"]["reportMails"] == {**NOTHING, "monthly": True}
    # After a change of the secret, too.
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert "Abbestellt" in reader("de").post(monthly).content.decode()
    assert ReportMail.objects.count() == 0
    assert browser.post(f"{weekly[:-1]}x").status_code == 404
    assert browser.get("/reports/unsubscribe/1.weekly").status_code == 404
    assert browser.put(weekly).status_code == 405
