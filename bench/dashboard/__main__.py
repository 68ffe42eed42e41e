"""python -m bench.dashboard: the dashboard of an owner of a million links, and the report of ten million clicks."""

from __future__ import annotations

import argparse
import os
from typing import NamedTuple

import django
from django.db import connection

from bench.dashboard import latency, lighthouse, views
from bench.dashboard.arrival import arrivals
from bench.dashboard.site import CHROMIUM_ARGUMENTS, Site, site_over_tls
from bench.harness.results import record
from bench.harness.stack import database
from testing.pages.chromium import ARGUMENTS, CHROME
from testing.programs import program

MAX_FIRST_VIEW = 150 * 1024
MIN_SCORE = 95
MAX_ARRIVAL_SECONDS = 2


# Of no link, and of every fifth.
BANNED_HOSTS = ("evil.example", "www.example.com")
BY_STATUS = (
    "/api/urls?status=active",
    "/api/urls?status=active&page=2",
    "/api/urls?status=active&sortBy=title",
    "/api/urls/count?status=active",
    "/api/urls?status=banned",
)


class Subject(NamedTuple):
    """The account, a token of its API, and its link with many clicks."""

    credentials: tuple[str, str]
    token: str
    link: str
    code: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--clicks", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=200, help="how often to send each request")
    parser.add_argument("--arrivals", type=int, default=40, help="clicks that the open report shows")
    parser.add_argument("--lighthouse-runs", type=int, default=3, help="0: do not run Lighthouse")
    parser.add_argument(
        "--database", metavar="NAME", help="measure this database of VAR_DIR, as an earlier run has loaded it"
    )
    options = parser.parse_args()
    with database(f"dashboard_{options.links}_{options.clicks}", options.database):
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "ACCESS_TOKEN_MINUTES": "600"}
        django.setup()

        from accounts.models import User
        from accounts.sessions.lifecycle import start_session
        from bench.load import busy_accounts
        from bench.load.counted_clicks import load_clicks
        from links.models import Link
        from testing.accounts.accounts import PASSWORD

        if options.database is None:
            busy_accounts.load(options.links)
        owner = User.objects.get(email="many@example.com")
        owner.set_password(PASSWORD)
        owner.save(update_fields=["password"])
        link = Link.objects.filter(owner__account=owner).latest("pk")
        if options.database is None:
            load_clicks([link.pk], options.clicks)
        session = start_session(owner)
        assert session is not None
        connection.close()
        subject = Subject((owner.email, PASSWORD), session.access, str(link.public_id), str(link.short_code))
        with site_over_tls() as site:
            measure(site, subject, options)


def measure(site: Site, subject: Subject, options: argparse.Namespace) -> None:
    from playwright.sync_api import sync_playwright

    size = f"{options.links:,} links"
    executable = program("chromium")
    report = f"{site.address}/dashboard/links/{subject.link}/report"
    with sync_playwright() as playwright:
        arguments = [*ARGUMENTS, *CHROMIUM_ARGUMENTS]
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        context = browser.new_context(user_agent=CHROME)
        views.sign_in(context, site.address, *subject.credentials)
        transfer = views.first_view(context, site.address)
        lists = views.requests_of(context, site.address, views.LISTS)
        reports = views.requests_of(context, site.address, views.REPORTS, link=subject.link)
        cookie = views.cookies(context, site.address)
        arrived = arrivals(context, report, site.port, subject.code, options.arrivals)
        browser.close()
    over = "  OVER" if transfer.total >= MAX_FIRST_VIEW else ""
    print(f"first view: code and style {transfer.code:,} bytes, everything {transfer.total:,} bytes{over}")
    record(
        "dashboard-first-view",
        f"{transfer.code / 1024:.0f} KB of code and style, {transfer.total / 1024:.0f} KB in all",
    )
    late = "  OVER" if arrived.p95 >= MAX_ARRIVAL_SECONDS else ""
    shown = f"{arrived.median:.2f} s, p95 {arrived.p95:.2f} s, at most {arrived.slowest:.2f} s"
    print(f"from a redirect until the open report shows its click: {shown}{late}")
    record("dashboard-arrival", f"{shown} ({options.arrivals} clicks)")
    print("milliseconds: median, p99; view and request")
    for key, requests, data in (
        ("dashboard-list", lists, size),
        ("dashboard-report", reports, f"{options.clicks:,} clicks"),
    ):
        p99 = latency.slowest_p99(site.port, subject.token, requests, options.rounds)
        record(key, f"at most {p99:.0f} ms ({len(requests)} requests, {data})")
    by_status = [lists_while_banned(site.port, subject.token, host, options.rounds) for host in BANNED_HOSTS]
    record("dashboard-banned-hosts", f"at most {max(by_status):.0f} ms (lists by status, {size})")
    if options.lighthouse_runs:
        score(
            {
                "list": f"{site.address}/dashboard/",
                "overview": f"{site.address}/dashboard/overview",
                "editor": report.removesuffix("/report"),
                "report": report,
            },
            cookie,
            executable,
            options.lighthouse_runs,
        )


def lists_while_banned(port: int, token: str, host: str, rounds: int) -> float:
    """The highest p99 of lists by status, in milliseconds, while operators ban the host."""
    from bans import services

    ban = services.ban_host(host=host)
    try:
        return latency.slowest_p99(port, token, dict.fromkeys(BY_STATUS, f"?ban={host}"), rounds)
    finally:
        services.lift_ban(ban=ban)
        connection.close()


def score(pages: dict[str, str], cookie: str, executable: str, runs: int) -> None:
    installed = lighthouse.install()
    figures = []
    for name, url in pages.items():
        result = lighthouse.scores(installed, url, cookie, executable, runs)
        over = "" if min(result.values()) >= MIN_SCORE else "  BELOW"
        figures.append(f"{name}: " + ", ".join(f"{category} {value}" for category, value in result.items()))
        print(figures[-1] + over)
    record("dashboard-lighthouse", "; ".join(figures))


if __name__ == "__main__":
    main()
