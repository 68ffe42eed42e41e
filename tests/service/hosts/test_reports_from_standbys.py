"""REPORTS_DATABASE_URL: a real standby answers reports and lists, and never without what the caller has changed."""

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


def check_lists(pair: Pair, reader: Service, writer: Service, stranger: str) -> None:
    """Each change through ``writer`` is in the next list of ``reader``, although the standby has stopped before it."""
    owner = reader.owner
    login = writer.call("POST", "/api/auth/login", {"email": owner.email, "password": owner.password})
    own = {"Authorization": f"Bearer {login.json()['token']}"}

    def write(method: str, path: str, body: Any = None, **headers: str) -> Any:
        response = writer.call(method, path, body, **own, **headers)
        assert response.status < 300, response
        return response.json().get("data")

    def listed(path: str, **headers: str) -> tuple[Any, bool]:
        """The data of a list, and whether a standby has answered."""
        response = reader.call("GET", path, **headers)
        assert response.status == 200, response
        return response.json()["data"], LAG in response.headers

    def written(path: str, method: str, target: str, body: Any = None, **headers: str) -> Any:
        """The data of a list after a change; before it, the standby answers."""
        pause_without_recent_changes(pair)
        assert listed(path, **own, **headers)[1]
        write(method, target, body, **headers)
        data, is_from_standby = listed(path, **own, **headers)
        assert not is_from_standby
        return data

    tagged = "/api/urls?tags=News"
    new = {"originalUrl": "https://example.com/listed", "tags": ["News"], "customCode": "listed"}
    [link] = written(tagged, "POST", "/api/urls", new)["urls"]
    path = f"/api/urls/{link['_id']}"
    assert link["customCode"] == "listed"
    assert written(tagged, "PUT", path, {"title": "Own"})["urls"][0]["title"] == "Own"
    # The history records neither a creation nor an update without any new value.
    [same] = written(tagged, "PUT", path, {"title": "Own"})["urls"]
    assert same["updatedAt"] > link["updatedAt"]
    assert same["updatedAt"] == write("GET", path)["url"]["updatedAt"]
    assert written(tagged, "PATCH", "/api/tags/News", {"name": "news"})["urls"][0]["tags"] == ["news"]
    [tag] = written("/api/tags", "PATCH", "/api/tags/news", {"color": "#aabbcc"})["tags"]
    assert (tag["name"], tag["color"], tag["linkCount"]) == ("news", "#AABBCC", 1)
    assert written("/api/urls/deleted", "DELETE", path)["urls"][0]["_id"] == link["_id"]
    assert written("/api/urls/count?tags=news", "POST", f"{path}/undelete")["total"] == 1
    assert written("/api/urls/stats", "DELETE", path)["stats"]["totalUrls"] > 0

    # A team's list names its members, whose accounts have histories of their own.
    team = write("POST", "/api/workspaces", {"name": "Team"})["workspace"]["_id"]
    write("POST", "/api/urls", {"originalUrl": "https://example.com/team"}, X_Workspace=team)
    renamed = written("/api/urls", "PATCH", "/api/auth/me", {"firstName": "Augusta"}, X_Workspace=team)
    assert renamed["urls"][0]["creator"]["firstName"] == "Augusta"

    # What others change sends nobody to the primary, and is nobody else's.
    pause_without_recent_changes(pair)
    write("POST", "/api/urls", {"originalUrl": "https://example.com/own"})
    data, is_from_standby = listed("/api/urls", X_API_Key=stranger)
    assert (data["urls"], is_from_standby) == ([], True)
    catch_up(pair)


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

            check_lists(pair, patient, strict, stranger)

            # A standby that has gone, and one that is a server of its own.
            pair.kill(pair.standby)
            assert report(patient, link, key) == (2, False)
            assert patient.is_ready()
            eventually(lambda: patient.stderr.count("The primary answers reports and lists: ") == 1)
            pair.standby.ensure_running()
            eventually(lambda: report(strict, link, key) == (2, True))
            pair.promote()
            with psycopg.connect(pair.standby.url, autocommit=True) as database:
                eventually(lambda: database.execute("SELECT pg_is_in_recovery()").fetchone() == (False,))
            assert report(strict, link, key) == (2, False)
