"""Requests for a host that is neither one of the service's own nor an active domain."""

from __future__ import annotations

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse

from common.host.metrics import count_database_error
from common.host.unknown_hosts import report_unknown_host
from common.http.hosts import is_address
from domains.selectors import active_domain
from pages.responses import refuse
from redirects import refusals


def refuse_unknown_host(request: HttpRequest, host: str | None) -> HttpResponse:
    """``host``: canonical; None if the header names none."""
    report_unknown_host(host)
    return refuse(request, refusals.UNKNOWN_HOST)


def is_unknown_host(host: str | None) -> bool:
    """For paths that are not codes. An IP address serves the API and the admin, so it is not unknown.

    During a database outage every host counts as known.
    """
    if host is None:
        return True
    if host in settings.BASE_HOSTS or is_address(host):
        return False
    try:
        return active_domain(host) is None
    except Error:
        count_database_error("page")
        return False
