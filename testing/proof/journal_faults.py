"""F4 to F6: faults between the record of a click in the journal and its rows in the tables."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from testing.proof import children
from testing.proof.drainers import POINTS, drain
from testing.proof.proxy import SOCKET_NAME, proxy
from testing.proof.site import Links, Site
from testing.proof.verdict import Log, Verdict, judge
from testing.proof.writers import write

CLICKS = 50
_MORE_DRAINS = 20


@dataclass(frozen=True)
class Stage:
    """The set-up of these faults: a site without a web server."""

    site: Site
    links: Links
    # For the logs of the writers.
    folder: Path
    random: random.Random

    def log(self) -> Path:
        descriptor, path = tempfile.mkstemp(dir=self.folder)
        os.close(descriptor)
        return Path(path)

    def drain_all(self) -> None:
        """Run drainers until the journal is empty: one drainer exits while others hold the remaining segments."""
        for _ in range(_MORE_DRAINS):
            expect(children.end_of(children.start(drain, self.site)), 0)
            if self.site.backlog() == 0 and not list(self.site.clicks_dir.glob("*.segment")):
                return
        raise RuntimeError("The journal is not drained.")


def expect(exit_code: int, expected: int) -> None:
    if exit_code != expected:
        raise RuntimeError(f"A child process exited with {exit_code}, not {expected}.")


def drainer_killed_at(stage: Stage, point: str, repeats: int) -> Verdict:
    """F4. The writers are killed first, so that the drainer also deletes their segments."""
    log = Log()
    for _ in range(repeats):
        path = stage.log()
        writer = children.start(write, stage.site, stage.links, path, CLICKS, die=True)
        expect(children.end_of(writer), -signal.SIGKILL)
        log.read(path)
        expect(children.end_of(children.start(drain, stage.site, point=point)), -signal.SIGKILL)
        if stage.random.random() < 0.5:
            # Do not check the exit code: the second drainer may have nothing to do and never reach the point.
            children.end_of(children.start(drain, stage.site, point=point))
    stage.drain_all()
    return judge(f"F4  drainer killed {point}", repeats, stage.site, log)


def every_point(stage: Stage, repeats: int) -> Iterator[Verdict]:
    for point in POINTS:
        yield drainer_killed_at(stage, point, repeats)


def drainers_at_once(stage: Stage, repeats: int) -> Verdict:
    """F5. Two or more drainers while clicks are written."""
    log = Log()
    for _ in range(repeats):
        paths = [stage.log(), stage.log()]
        writers = [children.start(write, stage.site, stage.links, path, CLICKS, 0.001) for path in paths]
        drainers = [children.start(drain, stage.site, batch=20) for _ in range(stage.random.randint(2, 4))]
        for child in [*writers, *drainers]:
            expect(children.end_of(child), 0)
        for path in paths:
            log.read(path)
    stage.drain_all()
    return judge("F5  drainers at once", repeats, stage.site, log)


def commit_unknown(stage: Stage, cuts: int) -> Verdict:
    """F6. The connection is cut before a COMMIT, after it, and before its response arrives."""
    address = urlsplit(stage.site.url)
    socket_dir = Path(unquote(address.hostname or "") or parse_qs(address.query)["host"][0])
    log = Log()
    with (
        tempfile.TemporaryDirectory(prefix="proof-") as folder,
        proxy(socket_dir / SOCKET_NAME, Path(folder), stage.random.randrange(2**32), cuts) as between,
    ):
        drainer = children.start(drain, stage.site.reached_by(Path(folder)), once=False, batch=20)
        try:
            for _ in range(20 * cuts):
                if between.cuts == cuts:
                    break
                path = stage.log()
                expect(children.end_of(children.start(write, stage.site, stage.links, path, CLICKS)), 0)
                log.read(path)
                if drainer.exitcode is not None:
                    raise RuntimeError(f"The drainer exited with {drainer.exitcode}.")
            else:
                raise RuntimeError(f"Only {between.cuts} commits were cut.")
        finally:
            drainer.kill()
            drainer.join()
    stage.drain_all()
    return judge("F6  outcome of COMMIT unknown", cuts, stage.site, log)
