"""What the documents excuse in a step of faults: clicks that are lost and reported, and old destinations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from testing.failover.faults import FAULTS, Fault
from testing.failover.service import STALE_SECONDS

# The bounds of docs/security-model.md, "Hosts that are cut off": of a host that reaches the database, and of others.
NORMAL_SECONDS = 7.0
# A host counts its last contact from the response of the database, which may have been under way for so long.
RESPONSE_SECONDS = 2.0
# The host receives no notifications of changes, but its workers reach the database.
_HEARS_NOTHING = re.compile(r"503 changes: [^,;]*")


class Broken(NamedTuple):
    """What a step broke, and where. ``began`` and ``ended``, after the recovery, in seconds of the monotonic clock.

    ``reported``: how many clicks each service host has reported as lost since the step before.
    """

    faults: list[tuple[Fault, str]]
    began: float
    ended: float
    reported: dict[str, int]

    def __str__(self) -> str:
        return " + ".join(fault.name for fault, _ in self.faults)

    def loses_clicks(self, host: str) -> bool:
        """Whether the host may lose clicks, if it reports them: docs/adr/0004-click-journal.md, "The disk"."""
        return self.lacks_database(host) and FAULTS["journal-full"] in self._faults_of(host)

    def lacks_database(self, host: str) -> bool:
        return any(fault.is_outage for fault in self._faults_of(host))

    def oldest_seconds(self, host: str, readiness: str) -> float:
        """For how long after an edit on another host this one may lead to the old destination.

        ``readiness``: what /readyz said then; a host that is cut off says so.
        """
        amiss = {words for words in readiness.split("; ") if not _HEARS_NOTHING.fullmatch(words)} - {"200"}
        if not amiss or not self.lacks_database(host):
            return NORMAL_SECONDS
        return RESPONSE_SECONDS + min(
            [fault.stale_seconds for fault in self._faults_of(host) if fault.is_outage], default=STALE_SECONDS
        )

    def _faults_of(self, host: str) -> list[Fault]:
        """Those that concern this service host: faults of another one do not."""
        return [fault for fault, where in self.faults if host in where.split() or not where.startswith("app")]


class Losses(NamedTuple):
    """``excused`` of the lost clicks are among ``reported`` ones, in ``steps``. The numbers of others are problems."""

    excused: int
    reported: int
    steps: list[str]
    unexcused: int
    unexcused_reports: int


def judge_losses(lost: Iterable[float], steps: Iterable[Broken]) -> Losses:
    """``lost``: when the redirects were answered whose clicks are missing."""
    moments = list(lost)
    excused = excusable = unexcusable = 0
    names = []
    for step in steps:
        allowed = sum(number for host, number in step.reported.items() if step.loses_clicks(host))
        unexcusable += sum(number for host, number in step.reported.items() if not step.loses_clicks(host))
        if allowed:
            names.append(str(step))
            excusable += allowed
            excused += min(allowed, sum(step.began <= moment <= step.ended for moment in moments))
    return Losses(excused, excusable, names, len(moments) - excused, unexcusable)
