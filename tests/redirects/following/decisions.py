"""Links and visitors of decisions."""

from datetime import UTC, datetime, timedelta
from typing import Any

from analytics.visitors.visitor import visitor_from
from links.destinations.lookup import Target
from redirects.visit import Visit
from testing.visitors.addresses import AMERICAN

NOW = datetime(2030, 6, 1, 12, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def target(**fields: Any) -> Target:
    plain: dict[str, Any] = {
        "link_id": 1,
        "public_id": "0197e9a8-0000-7000-8000-000000000000",
        "location": "https://example.com/",
        "redirect_type": 302,
        "is_active": True,
        "expires_at": None,
        "clicks": 0,
        "max_clicks": None,
        "allowed_countries": (),
        "blocked_countries": (),
        "allowed_devices": (),
        "password": None,
    }
    return Target(**plain | fields)


def visitor(address: str = AMERICAN, agent: str = DESKTOP, method: str = "GET", **meta: str) -> Visit:
    meta = {"REMOTE_ADDR": address, "HTTP_USER_AGENT": agent} | meta
    return Visit.from_visitor(visitor_from(meta, method, []), meta)
