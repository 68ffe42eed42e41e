"""F1 to F3 and F9: the whole service under load, while parts of it are killed or stopped."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from bench.proof import children
from bench.proof.clients import visitors
from bench.proof.drainers import drain
from bench.proof.site import Site
from bench.proof.verdict import Log, Verdict, judge
from shortener_project.embedded_postgres import EmbeddedPostgres
from shortener_project.embedded_postgres.layout import Layout
from shortener_project.embedded_postgres.lease import exclusive
from tests.service import processes
from tests.service.running import Service, eventually

FREE_LINKS, CAPPED_LINKS = 12, 4
SMALLEST_CAP = 40


@dataclass(frozen=True)
class Target:
    """A running service, and its links by their codes."""

    service: Service
    site: Site
    links: dict[str, int]
    random: random.Random

    def pause(self, least: float, most: float) -> None:
        time.sleep(self.random.uniform(least, most))


def target(service: Service, api_key: str, seed: int) -> Target:
    """Makes the links; some are used up soon, some never."""
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
    with visitors(to.service.port, to.links) as log:
        for _ in range(kills):
            to.pause(least, most)
            _kill(to.random.choice(eventually(to.service.workers)))
    return _verdict("F1  a web worker killed", kills, to, log)


def everything_killed(to: Target, kills: int) -> Verdict:
    """F2, and PostgreSQL with it."""
    with visitors(to.service.port, to.links) as log:
        for _ in range(kills):
            to.pause(0.3, 1.0)
            _kill_everything(to.service)
            to.service.start()
            _wait_for_answers(log, 1)
    return _verdict("F2  everything killed", kills, to, log)


def drainers_killed(to: Target, kills: int, least: float = 0.1, most: float = 0.7) -> Verdict:
    """F3. The service starts its own again at its leisure, so there is always another one, which is killed, too."""
    left = kills
    with visitors(to.service.port, to.links) as log:
        while left > 0:
            other = children.start(drain, to.site, once=False, batch=to.random.choice([10, 100, 1000]))
            to.pause(least, most)
            own = processes.children(to.service.serve(), "drain_clicks")
            for pid in [other.pid, *own][:left]:
                if pid is not None:
                    _kill(pid)
                    left -= 1
            other.join()
    return _verdict("F3  the drainer killed", kills, to, log)


def database_stopped(to: Target, seconds: float) -> Verdict:
    """F9. The drainer is held up before, so that there is a backlog that it must drain by itself afterwards."""
    service = to.service
    (drainer,) = eventually(lambda: processes.children(service.serve(), "drain_clicks"))
    with visitors(service.port, to.links) as log:
        os.kill(drainer, signal.SIGSTOP)
        to.pause(1.0, 1.5)
        # Nobody starts it again as long as this is held.
        with exclusive(Layout(service.var_dir.resolve()).startstop_lock):
            _kill(service.postmaster() or 0, signal.SIGINT)
            eventually(lambda: service.postmaster() is None)
            os.kill(drainer, signal.SIGCONT)
            errors = log.errors
            time.sleep(seconds)
            refused = log.errors - errors
        _wait_for_answers(log, 100)
    verdict = _verdict(f"F9  PostgreSQL stopped for {seconds:g} s", 1, to, log)
    if not refused:
        verdict.problems.append("no visitor noticed that the database was stopped")
    if not processes.is_alive(drainer):
        verdict.problems.append("the drainer has not survived it")
    return verdict


def _kill_everything(service: Service) -> None:
    """What was started while the others were being killed, too."""

    def is_gone() -> bool:
        found = service.processes()
        for pid in found:
            _kill(pid)
        return not found

    eventually(is_gone)
    service.exit_code()


def _wait_for_answers(log: Log, number: int) -> None:
    wanted = len(log.answered) + number
    eventually(lambda: len(log.answered) >= wanted)


def _verdict(fault: str, repeats: int, to: Target, log: Log) -> Verdict:
    eventually(to.service.is_well)
    eventually(lambda: to.site.backlog() == 0)
    return judge(fault, repeats, to.site, log)


def _kill(pid: int, number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
