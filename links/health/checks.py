"""The checks that are due: which links, and what their results change. Any number of hosts can run it concurrently."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from accounts.health_checks import HealthCheck
from common.database import PLAN_BY_KEY, execute, fetch, in_one_transaction
from common.host import cache_versions, vitals
from common.http.urls import canonical_destination
from events.types import EventType
from links.availability import STATUS
from links.health.hosts import HostBusy, name_of
from links.health.probe import check
from links.health.states import HealthStatus, Result, State, Verdict, next_check, state_after

logger = logging.getLogger(__name__)

# Checks mostly wait for other hosts. Each thread has a connection to the database.
THREADS = 4
# So many links are checked in a batch. More are leased, so that the batch has several hosts and workspaces.
_CHECKED, _CHECKED_OF_HOST, _CHECKED_OF_WORKSPACE = 16 * THREADS, 3, 4 * THREADS
_LEASED, _LEASED_OF_WORKSPACE, _WORKSPACES = 4 * _CHECKED, _CHECKED, 16
# If more links are due, a lease finds their workspaces among the next ones, so many at a time.
_SOONEST, _LOOKED_AT = 1_000, 500
# What a check of a host takes, with its pauses.
_STEP = timedelta(seconds=4)
# Longer than a batch takes. The links leased by a host that dies are due again after the lease.
_LEASE = "30 minutes"

_ARE_MORE_DUE = "(SELECT count(*) = %(soonest)s FROM soonest)"
# The next workspaces with due links share the lease, however many wait in one of them, and however many workspaces
# have none. An index has the links of all in the order of their times, another one those of each; a third one has the
# few that somebody asked for. Nobody can follow a closed or deleted link: it may come back, so it is looked at again
# the next day.
_LEASE_DUE = f"""
WITH RECURSIVE soonest AS MATERIALIZED (
    SELECT owner_id FROM links_linkhealth h WHERE {{which}} AND due_at <= now() ORDER BY due_at LIMIT %(soonest)s
), next (owner_id, due_at, place, found) AS (
    (
        SELECT owner_id, due_at, 1, (due_at <= now())::integer FROM links_linkhealth h
        WHERE {{which}} AND owner_id > %(after)s AND {_ARE_MORE_DUE} ORDER BY owner_id, due_at LIMIT 1
    )
    UNION ALL
    SELECT further.*, place + 1, found + (further.due_at <= now())::integer FROM next CROSS JOIN LATERAL (
        SELECT owner_id, due_at FROM links_linkhealth h
        WHERE {{which}} AND owner_id > next.owner_id ORDER BY owner_id, due_at LIMIT 1
    ) further WHERE place < %(looked_at)s AND found < %(workspaces)s
), waiting AS MATERIALIZED (
    SELECT owner_id FROM (
        SELECT owner_id FROM soonest UNION SELECT owner_id FROM next WHERE due_at <= now()
    ) found ORDER BY owner_id <= %(after)s, owner_id LIMIT %(workspaces)s
), due AS MATERIALIZED (
    SELECT due.link_id, row_number() OVER (PARTITION BY waiting.owner_id ORDER BY due.due_at) AS turn
    FROM waiting CROSS JOIN LATERAL (
        SELECT link_id, due_at FROM links_linkhealth h
        WHERE {{which}} AND h.owner_id = waiting.owner_id AND due_at <= now() ORDER BY due_at
        LIMIT (SELECT least(%(of_workspace)s, %(most)s / count(*)) FROM waiting)
        FOR NO KEY UPDATE SKIP LOCKED
    ) due
), last AS MATERIALIZED (
    SELECT CASE WHEN {_ARE_MORE_DUE} THEN (SELECT coalesce(max(owner_id), 0) FROM next)
        ELSE (SELECT owner_id FROM waiting ORDER BY owner_id > %(after)s, owner_id DESC LIMIT 1) END AS owner_id
), known AS MATERIALIZED (
    SELECT due.*, l.destination, coalesce(l.health_check, w.health_check, 'off') AS frequency,
        coalesce({STATUS} NOT IN ('active', 'scheduled'), true) AS is_closed
    FROM due LEFT JOIN links_link l ON l.id = due.link_id LEFT JOIN accounts_workspace w ON w.id = l.owner_id
    LEFT JOIN links_clickcounter n ON n.link_id = l.id LEFT JOIN domains_domain d ON d.id = l.domain_id
)
UPDATE links_linkhealth h SET due_at = now() + CASE
    WHEN known.destination IS NULL OR is_closed AND NOT h.is_requested AND frequency <> 'off' THEN interval '1 day'
    ELSE interval '{_LEASE}'
END
FROM known WHERE h.link_id = known.link_id
RETURNING h.link_id, h.due_at, h.owner_id, coalesce(known.destination, ''), known.frequency,
    h.is_requested AND known.destination IS NOT NULL, is_closed, turn, (SELECT owner_id FROM last)
"""  # noqa: S608 # built from constants
_REQUESTED, _REGULAR = "h.is_requested", "NOT h.is_requested AND h.due_at IS NOT NULL"
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
# Otherwise the many links of a host, whose checks take days, would be before the others of their workspace. Each
# workspace has a plan of its own for a host.
_PLAN = """
WITH planned AS (
    INSERT INTO links_checkedhost AS c (name, free_at, planned_until)
    VALUES (%(name)s, now(), now() + cardinality(%(links)s::bigint[]) * %(step)s)
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
    INSERT INTO links_linkhealth (link_id, owner_id, due_at)
    SELECT part.link_id, l.owner_id, now() + random() * interval '1 day'
    FROM part JOIN links_link l ON l.id = part.link_id LEFT JOIN links_linkhealth h ON h.link_id = l.id
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
    """``is_closed``: nobody can follow the link. ``turn``: the first link of each workspace has 1, and so on."""

    link_id: int
    due_at: datetime
    owner_id: int
    destination: str
    frequency: str
    is_requested: bool
    is_closed: bool
    turn: int

    @property
    def is_unwanted(self) -> bool:
        """Whether the checks have ended meanwhile."""
        return self.frequency == HealthCheck.OFF and not self.is_requested

    @property
    def host(self) -> str:
        return name_of(canonical_destination(self.destination).host)


class Checks:
    """The checks of one process, which remembers whose turn is next."""

    def __init__(self) -> None:
        # The last workspace that had its turn, in the order of their keys.
        self._after = {_REQUESTED: 0, _REGULAR: 0}

    def check_some(self) -> int:
        """Check links that are due, and return how many were found."""
        leased = self.lease_due()
        for link in leased:
            if link.is_unwanted:
                record(link, None)
        wanted = [link for link in leased if not link.is_unwanted]
        chosen = choose([link for link in wanted if link.is_requested or not link.is_closed])
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

    def lease_due(self) -> list[Leased]:
        """Those somebody asked for first; then the first ones of each workspace, the second ones, and so on."""
        leased: list[Leased] = []
        for which in (_REQUESTED, _REGULAR):
            found = self._lease(which, _LEASED - len(leased))
            leased += sorted(found, key=lambda link: link.turn)
        return leased

    def _lease(self, which: str, most: int) -> list[Leased]:
        values = {"most": most, "of_workspace": _LEASED_OF_WORKSPACE, "workspaces": _WORKSPACES}
        values |= {"after": self._after[which], "soonest": _SOONEST, "looked_at": _LOOKED_AT}
        rows = in_one_transaction(partial(_lease, _LEASE_DUE.format(which=which), values))
        if rows:
            self._after[which] = rows[0][-1]
        return [Leased(*row[:-1]) for row in rows]


def _lease(query: str, values: dict[str, int]) -> list[tuple[Any, ...]]:
    # The planner expects thousands of rows, and would read whole tables.
    execute(f"SELECT {PLAN_BY_KEY}")
    return fetch(query, values)


def choose(leased: Sequence[Leased]) -> list[Leased]:
    """The links of these that are checked at once. The others are due again, those of a host at later times."""
    chosen: list[Leased] = []
    returned: list[Leased] = []
    taken: Counter[str | int] = Counter()
    later: dict[tuple[str, int], list[Leased]] = defaultdict(list)
    for link in leased:
        if taken[link.host] == _CHECKED_OF_HOST:
            later[link.host, link.owner_id].append(link)
        elif len(chosen) == _CHECKED or taken[link.owner_id] == _CHECKED_OF_WORKSPACE:
            returned.append(link)
        else:
            taken.update((link.host, link.owner_id))
            chosen.append(link)
    for (host, owner_id), links in later.items():
        for plan, is_requested in ((_PLAN_SOON, True), (_PLAN, False)):
            if planned := [link for link in links if link.is_requested == is_requested]:
                values = {"name": f"{host} {owner_id}", "step": _STEP, **_selected(planned)}
                execute(plan, values)
    for is_requested in (True, False):
        if again := [link for link in returned if link.is_requested == is_requested]:
            execute(_RETURN, _selected(again))
    return chosen


def _selected(links: Sequence[Leased]) -> dict[str, Any]:
    """Links of one lease."""
    return {"links": [link.link_id for link in links], "leased": links[0].due_at}


def end_all_checks() -> int:
    """Where nobody checks, nobody finds out that a destination has recovered. Returns the number of revived links."""
    return 0 if settings.OUTBOUND else execute(_END_ALL)


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
