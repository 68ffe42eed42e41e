"""Warns the operator about requests for a host that is not set up: a domain without its verification, or a proxy that
replaces the Host header.
"""

from __future__ import annotations

import logging
from functools import cache

from django.conf import settings

from common.host.limited_warnings import LimitedWarnings
from common.http.urls import is_address

SECONDS, HOSTS = 60, 20
_NAME_ADVICE = "If it is yours, verify it as a domain, or let the proxy pass the Host header on."
_ADDRESS_ADVICE = "An address cannot be verified as a domain: let the proxy pass the Host header on."

log = logging.getLogger(__name__)


def report_unknown_host(host: str | None) -> None:
    """Log a warning, once a minute for each of at most ``HOSTS`` hosts. ``host``: canonical; None logs nothing."""
    if host is not None and unknown_hosts().is_due(host):
        log.warning(
            "Requests arrive for %s, which is neither the host of BASE_URL nor an active domain. %s",
            host,
            _ADDRESS_ADVICE if is_address(host) else _NAME_ADVICE,
        )


@cache
def unknown_hosts() -> LimitedWarnings:
    return LimitedWarnings(settings.VERSIONS_FILE.with_name("unknown_hosts"), seconds=SECONDS, subjects=HOSTS)
