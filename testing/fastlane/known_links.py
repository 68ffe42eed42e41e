"""A fast lane that knows links of several kinds, without a database."""

from __future__ import annotations

from math import inf

from django.conf import settings

from common.host.cache_versions import counter_of_code, counters, versions_of
from fastlane.fast.lane import FastLane
from fastlane.fast.prepared import prepare
from links.destinations.lookup import Target, site_of

OWN_HOST, OTHER_HOST = "127.0.0.1", "go.example.com"
PLAIN = ("a", "plain01", "Permanent", "with.dot_~-", "x" * 255, "L" * 40)
# Links that the fast lane knows but does not answer, or not with prepared bytes.
LIMITED = ("locked", "limited", "routed", "disabled", "expired", "changed")


def lane_of_known_links() -> FastLane:
    lane = FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES)
    for number, code in enumerate((*PLAIN, *LIMITED)):
        target = Target(
            link_id=number + 1,
            public_id="",
            location=f"https://example.com/{number}/" + "p" * (number * number * 100 % 2_000),
            redirect_type=301 if code == "Permanent" else 302,
            password="secret" if code == "locked" else None,
            max_clicks=5 if code == "limited" else None,
            is_active=code != "disabled",
            allowed_countries=("DE",) if code == "routed" else (),
            referrer_policy="no-referrer" if number % 2 else None,
        )
        for host in (OWN_HOST, OTHER_HOST):
            seconds = -1.0 if code == "expired" else inf
            lane.store(host, code, prepare(versions_of(site_of(host), code), target, seconds))
    counters()[counter_of_code("changed")] += 1
    return lane
