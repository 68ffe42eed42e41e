"""python -m bench.reports: the reports of a workspace that owns a million links with ten million clicks of a year."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

import django
from django.db import connection

from bench.harness.cpu import process_seconds
from bench.harness.results import record
from bench.harness.stack import database

if TYPE_CHECKING:
    from bench.harness.wsgi_call import Caller


class Subject(NamedTuple):
    """``limit``: the wanted p99 in milliseconds."""

    name: str
    limit: int
    queries: list[dict[str, str]]


SUBJECTS = (
    Subject(
        "workspace",
        100,
        [
            {"period": "7d"},
            {"period": "30d"},
            {"period": "30d", "compare": "previous"},
            {"period": "30d", "timezone": "Asia/Tokyo"},
            {"period": "24h"},
            {"period": "7d", "interval": "hour"},
            {"period": "12mo"},
            {"period": "all"},
            {"period": "30d", "groupBy": "weekdayHour"},
        ],
    ),
    Subject(
        "domain",
        100,
        [
            {"period": "30d", "domainId": "{domain}"},
            {"period": "30d", "domainId": "{domain}", "timezone": "Asia/Tokyo"},
            {"period": "12mo", "domainId": "{domain}"},
        ],
    ),
    Subject(
        "10,000 links",
        300,
        [{"period": "30d", "utmSource": "{few}"}, {"period": "12mo", "utmSource": "{few}"}],
    ),
    Subject(
        "300,000 links",
        2_000,
        [{"period": "7d", "tags": "Marketing"}, {"period": "30d", "tags": "Marketing"}],
    ),
    Subject("two filters", 1_000, [{"period": "30d", "country": "DE", "device": "mobile"}]),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--clicks", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=100, help="how often to send each request")
    parser.add_argument(
        "--database", metavar="NAME", help="measure this database of VAR_DIR, as an earlier run has loaded it"
    )
    options = parser.parse_args()
    with database(f"reports_{options.links}_{options.clicks}", options.database):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()

        from accounts.models import User
        from accounts.services import rotate_api_key
        from analytics.counting.summed_links import begin_rollups
        from bench.harness.wsgi_call import Caller
        from bench.load import busy_accounts
        from bench.load.counted_clicks import load_clicks
        from domains.models import Domain
        from links.models import Link

        if options.database is None:
            owner = busy_accounts.load(options.links)["many"]
            links = Link.objects.filter(owner__account=owner)
            load_clicks(list(links.order_by("pk").values_list("pk", flat=True)), options.clicks, hours=24)
            if links.filter(utm__source="few").count() == 0:
                some = links.order_by("public_id")[: options.links // 100]
                Link.objects.filter(pk__in=list(some.values_list("pk", flat=True))).update(
                    utm={"source": "few"}
                )
            started = time.perf_counter()
            begin_rollups()
            connection.cursor().execute("VACUUM (ANALYZE) analytics_rolluplinks")
            print(f"roll-up begun in {time.perf_counter() - started:.0f} s")
        owner = User.objects.get(email="many@example.com")
        values = {"domain": str(Domain.objects.get(host="many.example.com").public_id), "few": "few"}
        caller = Caller(rotate_api_key(user=owner))
        print(
            "milliseconds: median, p99, slowest; processor time of the web process and of the database; best links"
        )
        for subject in SUBJECTS:
            highest = 0.0
            for wanted in subject.queries:
                query = {name: value.format(**values) for name, value in wanted.items()}
                highest = max(highest, _measure(caller, query, options.rounds, subject.limit))
            record(f"reports-{subject.name.replace(' ', '-').replace(',', '')}", f"at most {highest:.0f} ms")


def _measure(caller: Caller, query: dict[str, str], rounds: int, limit: int) -> float:
    """The p99 of so many requests, after one to warm up."""
    _, body, _ = caller.get("/api/analytics", **query)
    times: list[float] = []
    statuses: set[int] = set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    began, database_began = time.process_time(), process_seconds(backend)
    for _ in range(rounds):
        status, _, seconds = caller.get("/api/analytics", **query)
        times.append(seconds * 1000)
        statuses.add(status)
    own = (time.process_time() - began) * 1000 / rounds
    of_database = (process_seconds(backend) - database_began) * 1000 / rounds
    p99 = statistics.quantiles(times, n=100)[98]
    over = f"  OVER {limit}" if p99 > limit else ""
    shown = " ".join(f"{name}={value}" for name, value in query.items())
    print(
        f"{statistics.median(times):8.1f} {p99:8.1f} {max(times):8.1f}; {own:6.1f} {of_database:8.1f};"
        f" {len(body['data']['topUrls']):2}  {sorted(statuses)} {shown}{over}",
        flush=True,
    )
    return p99


if __name__ == "__main__":
    main()
