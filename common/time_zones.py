"""The time zones that clients may name."""

from __future__ import annotations

import zoneinfo
from functools import cache

# Some systems have these files beside the zones. The zone of this machine must not be available to clients.
_NOT_OFFERED = frozenset({"Factory", "localtime"})


@cache
def zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones() - _NOT_OFFERED) | {"UTC"}
