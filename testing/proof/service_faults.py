"""F1 to F3 and F9: parts of the service are killed or stopped under load."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from local_postgres import EmbeddedPostgres
from local_postgres.layout import Layout
from local_postgres.server import exclusive
from testing.polling import DEADLINE, happens
from testing.proof import children
from testing.proof.clients import visitors
from testing.proof.drainers import drain
from testing.proof.site import Site
from testing.proof.verdict import Log, Verdict, judge
from testing.service import processes
from testing.service.running import Service, eventually

FREE_LINKS, CAPPED_LINKS = 12, 4
SMALLEST_CAP = 40


@dataclass(frozen=True)
class Target:
    """A running service and its link ids by code."""

    service: Service
    site: Site
    links: dict[str, int]
    random: random.Random

    def pause(self, least: float, most: float) -> None:
        time.sleep(self.random.uniform(least, most))


def target(service: Service, api_key: str, seed: int) -> Target:
    """Create the links. Some capped links reach their cap soon, some never do. The workspace listens to clicks."""
    feed = service.call("PUT", "/api/events/feed", {"types": ["link.clicked"]}, X_API_Key=api_key)
    assert feed.status == 200, feed
    for _ in range(FREE_LINKS):
        service.create_link(api_key)
    for number in range(CAPPED_LINKS):
        service.create_link(api_key, restrictions={"maxClicks": SMALLEST_CAP * 50**number})
    site = Site(
        service.var_dir,
        EmbeddedPostgres(service.var_dir).url,
        (service.var_dir / "secret_key").read_text().strip(),
    )
    links = dict(site.rows("SELECT short_code, id FROM links_link"))
    return Target(service, site, links, random.Random(seed))


def workers_killed(to: Target, kills: int, least: float = 0.2, most: float = 0.6) -> Verdict:
    with visiting(to) as log:
        for _ in range(kills):
            to.pause(least, most)
            kill(to.random.choice(eventually(to.service.workers)))
    return verdict_of("F1  a web worker killed", kills, to, log)


def everything_killed(to: Target, kills: int) -> Verdict:
    """F2, and PostgreSQL with it."""
    with visiting(to) as log:
        for _ in range(kills):
            to.pause(0.3, 1.0)
            _kill_everything(to.service)
            to.service.start()
            _wait_for_responses(log, 1)
    return verdict_of("F2  everything killed", kills, to, log)


def drainers_killed(to: Target, kills: int, least: float = 0.1, most: float = 0.7) -> Verdict:
    """F3. The service restarts its drainer with a delay, so a second one always runs. Both are killed."""
    remaining = kills
    with visiting(to) as log:
        while remaining > 0:
            other = children.start(drain, to.site, once=False, batch=to.random.choice([10, 100, 1000]))
            to.pause(least, most)
            own = processes.children(to.service.serve(), "drain_clicks")
            for pid in [other.pid, *own][:remaining]:
                if pid is not None:
                    kill(pid)
                    remaining -= 1
            other.join()
    return verdict_of("F3  the drainer killed", kills, to, log)


def database_stopped(to: Target, seconds: float) -> Verdict:
    """F9. The drainer is suspended first, so that it has a backlog to drain after the outage."""
    service = to.service
    (drainer,) = eventually(lambda: processes.children(service.serve(), "drain_clicks"))
    with visiting(to) as log:
        os.kill(drainer, signal.SIGSTOP)
        to.pause(1.0, 1.5)
        postmaster = eventually(service.postmaster)
        assert postmaster is not None
        # While this lock is held, no process restarts the database.
        with exclusive(Layout(service.var_dir.resolve()).startstop_lock):
            kill(postmaster, signal.SIGINT)
            eventually(lambda: service.postmaster() is None)
            os.kill(drainer, signal.SIGCONT)
            errors = log.errors
            time.sleep(seconds)
            # On a busy machine, the first visitors may need longer.
            is_noticed = happens(lambda: log.errors > errors, within=DEADLINE)
    verdict = verdict_of(f"F9  PostgreSQL stopped for {seconds:g} s", 1, to, log)
    if not is_noticed:
        verdict.problems.append("no visitor noticed that the database was stopped")
    if not processes.is_alive(drainer):
        verdict.problems.append("the drainer did not survive the outage")
    return verdict


def _kill_everything(service: Service) -> None:
    """Kill all processes, including those started meanwhile."""

    def is_gone() -> bool:
        pids = service.processes()
        for pid in pids:
            kill(pid)
        return not pids

    eventually(is_gone)
    service.exit_code()


@contextmanager
def visiting(to: Target) -> Iterator[Log]:
    """Visitors who stay until they have received 100 more responses after the last fault."""
    with visitors(to.service.port, to.links) as log:
        yield log
        _wait_for_responses(log, 100)


def _wait_for_responses(log: Log, number: int) -> None:
    target_count = len(log.redirected) + number
    eventually(lambda: len(log.redirected) >= target_count)


def verdict_of(fault: str, repeats: int, to: Target, log: Log) -> Verdict:
    eventually(to.service.is_healthy)
    eventually(lambda: to.site.backlog() == 0)
    return judge(fault, repeats, to.site, log)


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
