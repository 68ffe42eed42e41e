"""Compares the clients' log of requests and responses with the counted clicks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from testing.proof.site import Site

ADDRESS = "https://proof.example/"


@dataclass
class Log:
    """The clients' own log, independent of the service: the link of each request, and which got a redirect."""

    sent: dict[str, int] = field(default_factory=dict)
    redirected: set[str] = field(default_factory=set)
    # Requests refused because the link reached its cap. The service records these, too.
    refused: set[str] = field(default_factory=set)
    errors: int = 0
    problems: list[str] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """The log of a process that may have been killed."""
        for line in path.read_text().splitlines():
            match line.split():
                case [identity, "redirected"]:
                    self.redirected.add(identity)
                case [identity, link] if len(identity) == 36:
                    self.sent[identity] = int(link)
        self.errors = len(self.sent) - len(self.redirected)


@dataclass
class Verdict:
    fault: str
    repeats: int
    redirected: int = 0
    counted: int = 0
    lost: int = 0
    twice: int = 0
    errors: int = 0
    dropped: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        line = (
            f"{self.fault:40} {self.repeats:5} x  redirected {self.redirected:7,}  counted {self.counted:7,}"
            f"  lost {self.lost}  twice {self.twice}  errors {self.errors:,}"
        )
        if self.dropped:
            line += f"  dropped {self.dropped}"
        return "\n".join([line, *(f"  VIOLATION: {problem}" for problem in self.problems)])


def judge(fault: str, repeats: int, site: Site, log: Log, *, dropped: int = 0) -> Verdict:
    """Call this after all clicks are drained. ``dropped``: redirects whose click the service reports as lost."""
    from analytics.counting.click_events import public_click_id

    clicks = _events(site, log, "kind = 0")
    refusals = _events(site, log, "kind = 4")
    recorded = Counter(identity for _, identity in clicks + refusals)
    counted = {identity for _, identity in clicks}
    lost = len(log.redirected - counted) + len(log.refused - {identity for _, identity in refusals})
    verdict = Verdict(
        fault, repeats, len(log.redirected), len(clicks), lost - dropped,
        sum(number - 1 for number in recorded.values()), log.errors, dropped, list(log.problems),
    )  # fmt: skip
    # Of all faults so far. The clicks of this log are among them.
    counted_ids = Counter(
        public_click_id(number, site.secret)
        for (number,) in site.rows("SELECT id FROM analytics_rawclick WHERE kind = 0")
    )
    events = Counter(number for (number,) in site.rows(_EVENTS))
    problems = {
        "redirected, but not counted": verdict.lost,
        "counted twice": verdict.twice,
        "counted, but refused": len(counted & log.refused),
        "counted on another link": sum(log.sent[identity] != link for link, identity in clicks),
        "links whose counter is not their number of clicks": len(site.rows(_WRONG_COUNTERS)),
        "counted, and without an event": (counted_ids - events).total(),
        "events without a counted click, or repeated": (events - counted_ids).total(),
        "dead letters": site.rows("SELECT count(*) FROM analytics_deadletter")[0][0],
        "segments set aside": len(list(site.clicks_dir.glob("*.damaged"))),
        "left in the journal": site.backlog(),
    }
    verdict.problems += [f"{number} {problem}" for problem, number in problems.items() if number]
    if (audit := site.audit()) != "0 differences.\n":
        verdict.problems.append(audit)
    return verdict


_WRONG_COUNTERS = """
SELECT link_id FROM links_clickcounter LEFT JOIN (
    SELECT link_id, count(*) AS events FROM analytics_rawclick WHERE kind = 0 GROUP BY 1
) click USING (link_id) WHERE clicks <> coalesce(events, 0)
"""


_EVENTS = "SELECT data ->> 0 FROM events_event WHERE type = 'link.clicked'"


def counted_clicks(site: Site, log: Log) -> set[str]:
    return {identity for _, identity in _events(site, log, "kind = 0")}


def _events(site: Site, log: Log, condition: str) -> list[tuple[int, str]]:
    rows = site.rows(
        f"SELECT link_id, substring(referrer FROM {len(ADDRESS) + 1}) FROM analytics_click "
        f"WHERE {condition} AND starts_with(referrer, '{ADDRESS}')"
    )
    return [(link, identity) for link, identity in rows if identity in log.sent]
