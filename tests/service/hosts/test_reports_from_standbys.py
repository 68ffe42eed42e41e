"""REPORTS_DATABASE_URL: a real standby answers reports, and never without what the caller has changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.outages import metric
from testing.service.postgresql.standbys import Pair, primary_and_standby
from testing.service.running import Response, Service, eventually

pytestmark = pytest.mark.slow

LAG = "Data-Lag"


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(statement)


def catch_up(pair: Pair) -> None:
    """Let the standby follow until it has all that the primary has now."""
    with psycopg.connect(pair.primary.url) as database:
        [(position,)] = database.execute("SELECT pg_current_wal_flush_lsn()::text").fetchall()
    with psycopg.connect(pair.standby.url, autocommit=True) as database:
        database.execute("SELECT pg_wal_replay_resume()")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{position}'"
        eventually(lambda: database.execute(query).fetchone() == (True,))


def pause_without_recent_changes(pair: Pair) -> None:
    """Stop the standby. Both servers show the last change in the history as an hour old."""
    execute(pair.primary.url, "UPDATE accounts_change SET changed_at = changed_at - interval '1 hour'")
    catch_up(pair)
    execute(pair.standby.url, "SELECT pg_wal_replay_pause()")


def report(host: Service, link: dict[str, Any], key: str) -> tuple[int, bool]:
    """The clicks of the link, and whether a standby has counted them."""
    response = report_of(host, link, key)
    assert response.status == 200, response
    return response.json()["data"]["totalClicks"], LAG in response.headers


def report_of(host: Service, link: dict[str, Any], key: str) -> Response:
    return host.call("GET", f"/api/analytics/{link['_id']}", X_API_Key=key)


def test_a_standby_answers_reports_unless_it_lacks_what_the_caller_has_changed() -> None:
    with primary_and_standby() as pair:
        environment = {"REPORTS_DATABASE_URL": pair.standby.url, **LONG_TIMEOUTS}
        with (
            one_host(pair.primary.url, REPORTS_MAX_LAG_SECONDS="240", **environment) as patient,
            one_host(pair.primary.url, **environment) as strict,
        ):
            key = patient.owner.api_key
            link = patient.create_link(key)
            created = patient.manage("create_account", "grace@example.com").stdout
            stranger = created.rpartition("API key:")[2].strip()
            assert patient.call("GET", f"/{link['shortCode']}").status == 302
            eventually(lambda: report(patient, link, key) == (1, True))
            assert metric(patient, 'shortener_reports_total{server="standby"}') > 0
            export = patient.call("GET", "/api/urls/export", X_API_Key=key)
            assert (LAG in export.headers, link["shortUrl"].encode() in export.body) == (True, True)
            assert report_of(patient, link, stranger).status == 404

            # A standby may lag, but not by more than the bound.
            pause_without_recent_changes(pair)
            assert patient.call("GET", f"/{link['shortCode']}").status == 302
            eventually(lambda: report(strict, link, key) == (2, False))
            assert report(patient, link, key) == (1, True)
            assert float(report_of(patient, link, key).headers[LAG]) > 0
            assert metric(patient, "shortener_reports_lag_seconds") > 0

            # Own changes are never missing, whichever host has made them.
            new = strict.create_link(key)
            assert report(patient, new, key) == (0, False)
            pause_without_recent_changes(pair)
            assert report(patient, link, key) == (2, True)
            erased = strict.call(
                "DELETE", f"/api/analytics/{link['_id']}?before={datetime.now(UTC):%Y-%m-%d}", X_API_Key=key
            )
            assert erased.status == 200, erased
            assert report(patient, link, key) == (2, False)
            catch_up(pair)
            assert report(patient, link, key) == (2, True)

            # A standby that has gone, and one that is a server of its own.
            pair.kill(pair.standby)
            assert report(patient, link, key) == (2, False)
            assert patient.is_ready()
            eventually(lambda: patient.stderr.count("The primary answers reports: ") == 1)
            pair.standby.ensure_running()
            eventually(lambda: report(strict, link, key) == (2, True))
            pair.promote()
            with psycopg.connect(pair.standby.url, autocommit=True) as database:
                eventually(lambda: database.execute("SELECT pg_is_in_recovery()").fetchone() == (False,))
            assert report(strict, link, key) == (2, False)
