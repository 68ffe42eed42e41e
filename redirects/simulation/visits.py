"""The visitor and the visit that a client describes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from analytics.visitors.visitor import Visitor, visitor_from
from redirects.visit import Visit

# Browsers of visitors whose user agent the client leaves out, by device.
_AGENTS = {
    "desktop": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "mobile": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.5 Mobile/15E148 Safari/604.1",
    "tablet": "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/16.6 Mobile/15E148 Safari/604.1",
}


@dataclass(frozen=True, slots=True)
class DescribedVisit:
    """A visit that was not made. ``unlocked``: the visitor has entered the link's password."""

    visitor: Visitor
    visit: Visit
    method: str
    time: datetime
    unlocked: bool

    def redirect_status(self, status: int) -> int:
        """Return the status of the redirect, which is 303 after a POST, as for a real visit."""
        return 303 if self.method == "POST" else status


def described_visit(
    *,
    country: str | None = None,
    address: str = "",
    device: str | None = None,
    user_agent: str | None = None,
    language: str = "",
    referrer: str = "",
    query: str = "",
    time: datetime | None = None,
    unlocked: bool = False,
    method: str = "GET",
) -> DescribedVisit:
    """Describe a visit. ``country`` and ``device`` replace what the address and the user agent imply."""
    # A URL's query ends at "#".
    query = query.removeprefix("?").partition("#")[0]
    agent = _AGENTS[device or "desktop"] if user_agent is None else user_agent
    meta = {
        "REMOTE_ADDR": address,
        "HTTP_USER_AGENT": _as_sent(agent),
        "HTTP_REFERER": _as_sent(referrer),
        "QUERY_STRING": _as_sent(query),
    }
    visitor = visitor_from(meta, method, ())
    visit = Visit(
        visitor.address,
        visitor.user_agent,
        visitor.referrer,
        _as_sent(language),
        query,
        visitor.scanned,
        country,
        device,
    )
    return DescribedVisit(visitor, visit, method, time or timezone.now(), unlocked)


def _as_sent(header: str) -> str:
    """WSGI presents the bytes of a header as latin-1."""
    return header.encode().decode("latin-1")
