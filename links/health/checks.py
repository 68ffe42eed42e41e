"""The checks that are due: which links, and what their results change. Any number of hosts can run it concurrently."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import NamedTuple

import orjson
from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from accounts.health_checks import HealthCheck
from common.database import execute, fetch, in_one_transaction
from common.host import cache_versions, vitals
from common.http.urls import canonical_destination
from events.types import EventType
from links.health.hosts import HostBusy, name_of
from links.health.probe import check
from links.health.states import HealthStatus, Result, State, Verdict, next_check, state_after

logger = logging.getLogger(__name__)

# Checks mostly wait for other hosts. Each thread has a connection to the database.
THREADS = 4
# So many links are checked in a batch. More are leased: the others of a host or workspace get later times, in one
# statement.
_CHECKED, _CHECKED_OF_HOST, _CHECKED_OF_WORKSPACE = 16 * THREADS, 3, 4 * THREADS
_LEASED = 4 * _CHECKED
# What a check of a host takes, with its pauses, and what one of many hosts does.
_STEP_OF_HOST, _STEP_OF_WORKSPACE = timedelta(seconds=4), timedelta(seconds=0.5)
# Longer than a batch takes. The links leased by a host that dies are due again after the lease.
_LEASE = "30 minutes"

# An index has the few links somebody asked for, which come first. Deleted links may come back.
_LEASE_DUE = f"""
UPDATE links_linkhealth h
SET due_at = now() + CASE due.is_deleted WHEN true THEN interval '1 day' ELSE interval '{_LEASE}' END
FROM (
    SELECT h.link_id, l.id IS NULL AS is_deleted, coalesce(l.owner_id, 0) AS owner_id,
        coalesce(l.destination, '') AS destination, coalesce(l.health_check, w.health_check, 'off') AS frequency
    FROM links_linkhealth h LEFT JOIN links_link l ON l.id = h.link_id
    LEFT JOIN accounts_workspace w ON w.id = l.owner_id
    WHERE h.due_at <= now() AND {{which}} ORDER BY h.due_at LIMIT %(most)s FOR NO KEY UPDATE OF h SKIP LOCKED
) due WHERE h.link_id = due.link_id
RETURNING h.link_id, h.due_at, due.owner_id, due.destination, due.frequency, h.is_requested AND NOT due.is_deleted
"""  # noqa: S608 # built from constants
# The link first, as its own updates do.
_LOCK = """
SELECT h.status, h.failures, h.failing_since, l.is_dead, coalesce(l.health_check, w.health_check), h.is_requested
FROM links_link l JOIN links_linkhealth h ON h.link_id = l.id JOIN accounts_workspace w ON w.id = l.owner_id
WHERE l.id = %(link)s AND h.due_at = %(leased)s FOR NO KEY UPDATE OF l, h
"""
_STORE = """
UPDATE links_linkhealth SET status = %(status)s, failures = %(failures)s, failing_since = %(since)s,
    checked_at = coalesce(%(checked)s, checked_at), problem = %(problem)s, due_at = %(due)s, is_requested = false
WHERE link_id = %(link)s
"""
_MARK = "UPDATE links_link SET is_dead = %(dead)s WHERE id = %(link)s RETURNING links_codes_of(id)"
_END_ALL = """
WITH revived AS (UPDATE links_link SET is_dead = false WHERE is_dead RETURNING id)
UPDATE links_linkhealth h SET status = 'unknown', failures = 0, failing_since = NULL
FROM revived WHERE h.link_id = revived.id
"""
_EMIT = "SELECT links_emit(%(type)s, ARRAY[%(link)s]::bigint[], %(further)s::jsonb)"
_PUT_OFF = """
UPDATE links_linkhealth SET due_at = greatest(
    now() + interval '5 seconds', (SELECT free_at FROM links_checkedhost WHERE name = %(host)s)
) WHERE link_id = %(link)s AND due_at = %(leased)s
"""
# Otherwise the many links of a host or workspace, whose checks take days, would be before all others in the queue.
_PLAN = """
WITH planned AS (
    INSERT INTO links_checkedhost AS c (name, free_at, planned_until)
    VALUES (%(host)s, now(), now() + cardinality(%(links)s::bigint[]) * %(step)s)
    ON CONFLICT (name) DO UPDATE
        SET planned_until = greatest(c.planned_until, now()) + cardinality(%(links)s::bigint[]) * %(step)s
    RETURNING planned_until
)
UPDATE links_linkhealth h SET due_at = planned_until - (cardinality(%(links)s::bigint[]) - place) * %(step)s
FROM planned, unnest(%(links)s::bigint[]) WITH ORDINALITY wanted (link_id, place)
WHERE h.link_id = wanted.link_id AND h.due_at = %(leased)s
"""
# Not behind those, if somebody asked for them.
_PLAN_SOON = """
UPDATE links_linkhealth h SET due_at = now() + place * %(step)s
FROM unnest(%(links)s::bigint[]) WITH ORDINALITY wanted (link_id, place)
WHERE h.link_id = wanted.link_id AND h.due_at = %(leased)s
"""
_RETURN = "UPDATE links_linkhealth SET due_at = now() WHERE link_id = ANY(%(links)s) AND due_at = %(leased)s"
# Links with the default of their workspace, in the order of their creation. The first check is within a day.
_ENLIST = """
WITH part AS (
    SELECT link_id, created_at FROM links_searchable
    WHERE owner_id = %(owner)s AND (created_at, link_id) > (%(created)s, %(link)s)
    ORDER BY created_at, link_id LIMIT 5000
), enlisted AS (
    INSERT INTO links_linkhealth (link_id, due_at)
    SELECT part.link_id, now() + random() * interval '1 day' FROM part JOIN links_link l ON l.id = part.link_id
    LEFT JOIN links_linkhealth h ON h.link_id = l.id
    WHERE l.health_check IS NULL AND (h.due_at IS NULL OR h.due_at > now() + %(longest)s) ORDER BY 1
    ON CONFLICT (link_id) DO UPDATE SET due_at = EXCLUDED.due_at
)
SELECT created_at, link_id FROM part ORDER BY created_at DESC, link_id DESC LIMIT 1
"""
# Then the links of a workspace are looked through again.
_REST_SECONDS = 600
_START = (datetime(1970, 1, 1, tzinfo=UTC), 0)
# Checks that are later than the frequency allows are those of a former one.
_LONGEST = {HealthCheck.DAILY: timedelta(days=2), HealthCheck.WEEKLY: timedelta(days=8)}
_WITH_DEFAULT = "SELECT id, health_check FROM accounts_workspace WHERE health_check <> 'off'"


class Leased(NamedTuple):
    link_id: int
    due_at: datetime
    owner_id: int
    destination: str
    frequency: str
    is_requested: bool

    @property
    def is_wanted(self) -> bool:
        """Whether the checks have not ended meanwhile."""
        return self.frequency != HealthCheck.OFF or self.is_requested

    @property
    def host(self) -> str:
        return name_of(canonical_destination(self.destination).host)


def check_some() -> int:
    """Check links that are due, and return how many were found."""
    leased = lease_due()
    for link in leased:
        if not link.is_wanted:
            record(link, None)
    chosen = choose([link for link in leased if link.is_wanted])
    with ThreadPoolExecutor(THREADS, "check") as pool:
        futures = {link: pool.submit(_check, link.destination) for link in chosen}
        while wait(futures.values(), timeout=1).not_done:
            vitals.beat()
    for link, future in futures.items():
        result = future.result()
        if result is None:
            execute(_PUT_OFF, {"link": link.link_id, "leased": link.due_at, "host": link.host})
        else:
            record(link, result)
    return len(leased)


def choose(leased: Sequence[Leased]) -> list[Leased]:
    """The links of these that are checked at once. The others of their hosts and workspaces get later times."""
    chosen: list[Leased] = []
    taken: Counter[str] = Counter()
    later: dict[tuple[str, timedelta], list[Leased]] = defaultdict(list)
    for link in leased:
        host, workspace = link.host, f"workspace {link.owner_id}"
        if taken[host] == _CHECKED_OF_HOST:
            later[host, _STEP_OF_HOST].append(link)
        elif taken[workspace] == _CHECKED_OF_WORKSPACE:
            later[workspace, _STEP_OF_WORKSPACE].append(link)
        else:
            taken.update((host, workspace))
            chosen.append(link)
    for (name, step), links in later.items():
        for plan, is_requested in ((_PLAN_SOON, True), (_PLAN, False)):
            if planned := [link.link_id for link in links if link.is_requested == is_requested]:
                execute(plan, {"host": name, "links": planned, "step": step, "leased": links[0].due_at})
    if returned := chosen[_CHECKED:]:
        execute(_RETURN, {"links": [link.link_id for link in returned], "leased": returned[0].due_at})
    return chosen[:_CHECKED]


def end_all_checks() -> int:
    """Where nobody checks, nobody finds out that a destination has recovered. Returns the number of revived links."""
    return 0 if settings.OUTBOUND else execute(_END_ALL)


def lease_due() -> list[Leased]:
    """Those somebody asked for first."""
    return in_one_transaction(_lease_due)


def _lease_due() -> list[Leased]:
    leased: list[Leased] = []
    for which in ("h.is_requested", "NOT h.is_requested"):
        rows = fetch(_LEASE_DUE.format(which=which), {"most": _LEASED - len(leased)})
        leased += (Leased(*row) for row in rows)
    return leased


def _check(url: str) -> Result | None:
    """In a thread of the pool. None: too many checks of the host are under way."""
    try:
        return check(url)
    except HostBusy:
        return None
    except Error:
        raise
    except Exception:
        # Whatever a host has sent, the other links of the lease must be checked.
        logger.exception("A check has failed.")
        return Result(Verdict.UNDECIDED)
    finally:
        connection.close()


def record(leased: Leased, result: Result | None) -> None:
    """Store what a check has found, unless the link has changed since the lease.

    If checks have ended, nothing is known of the destination any more. ``result`` is None if they had before this one.
    """
    now = timezone.now()
    changed_codes: list[str] = in_one_transaction(lambda: _record(leased, result, now))
    cache_versions.bump(codes=changed_codes)


def _record(leased: Leased, result: Result | None, now: datetime) -> list[str]:
    rows = fetch(_LOCK, {"link": leased.link_id, "leased": leased.due_at})
    if not rows:
        return []
    [(status, failures, since, was_dead, chosen, is_requested)] = rows
    # The default of the workspace may be another one than at the time of the lease.
    frequency, state = HealthCheck(chosen), State()
    is_regular = frequency is not HealthCheck.OFF
    if not (is_regular or is_requested):
        result = None
    if result is not None:
        state = state_after(State(status, failures, since), result, now, is_regular=is_regular)
    stored = {
        "link": leased.link_id,
        "status": state.status,
        "failures": state.failures,
        "since": state.failing_since,
        "checked": None if result is None else now,
        "problem": None if result is None else result.problem,
        "due": next_check(state, frequency, now),
    }
    execute(_STORE, stored)
    is_dead = state.status == HealthStatus.DEAD
    if is_dead == was_dead:
        return []
    [(codes,)] = fetch(_MARK, {"link": leased.link_id, "dead": is_dead})
    if result is not None:
        kind = EventType.DESTINATION_UNHEALTHY if is_dead else EventType.DESTINATION_RECOVERED
        further = {"url": leased.destination, "problem": result.problem, "failingSince": state.failing_since}
        values = {"type": kind, "link": leased.link_id, "further": orjson.dumps(further).decode()}
        execute(_EMIT, values)
    return list(codes)


class Enlisting:
    """Walks through the links of workspaces whose default is to check them, a part of each in one call."""

    def __init__(self) -> None:
        # By workspace and frequency: the place, and when it goes on from there.
        self._walks: dict[tuple[int, str], tuple[tuple[datetime, int], float]] = {}

    def go_on(self) -> bool:
        """Returns whether the next call has more to do."""
        now, walks = monotonic(), self._walks
        self._walks = {}
        for owner_id, frequency in fetch(_WITH_DEFAULT):
            place, time = walks.get((owner_id, frequency), (_START, now))
            if time <= now:
                values = {"owner": owner_id, "created": place[0], "link": place[1]}
                places = fetch(_ENLIST, {**values, "longest": _LONGEST[frequency]})
                place, time = (places[0], now) if places else (_START, now + _REST_SECONDS)
            self._walks[owner_id, frequency] = place, time
        return any(time <= now for _, time in self._walks.values())
