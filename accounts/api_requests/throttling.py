"""Request rate limits: per workspace by plan, and per network for requests without a valid credential."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.callers import Caller
from accounts.rights import requests_per_minute
from common.http.client_address import address_of_client, client_network
from limits.rates import Rate, rate_of, spend_request


class RequestThrottle(BaseThrottle):
    """Checked once per request, including requests with an invalid credential.

    Authentication by API key has already counted the request.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        """Returns True or raises TooManyRequests. Stores the response headers on the view."""
        rate = _counted(request)
        if rate is not None:
            view.rate_headers = rate.headers
        return True


def _counted(request: Request) -> Rate | None:
    """Count the request, unless authentication has done so. Returns None if the caller has no limit."""
    caller = request.auth
    if isinstance(caller, Caller):
        limit = requests_per_minute(caller.plan)
        if caller.counted is not None:
            return rate_of(caller.counted, limit)
        if not limit:
            return None
        subject, *others = caller.subjects
        return spend_request(subject, limit, *others)
    limit = settings.RATE_LIMIT_ANONYMOUS
    return (
        spend_request(f"requests from {client_network(address_of_client(request))}", limit) if limit else None
    )
