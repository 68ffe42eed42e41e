"""Who has how many requests a minute: an account by its plan, and a network without a credential that is valid."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.models import User
from accounts.plans import requests_per_minute
from accounts.rates import spend_request
from common.client_address import client_address, client_network


class RequestThrottle(BaseThrottle):
    """Asked once for every request, also for those that are refused because of their credential."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """True; raises TooManyRequests. Leaves with the view what its answer has to say of it."""
        subject, limit = _subject(request)
        if limit:
            view.rate_headers = spend_request(subject, limit).headers
        return True


def address_of_client(request: Any) -> str:
    """``request`` is Django's or DRF's."""
    meta = request.META
    return client_address(
        meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""), settings.TRUSTED_PROXIES
    )


def _subject(request: Request) -> tuple[str, int]:
    user = request.user
    # Key and tokens are two ways to one account, and so to one limit.
    if isinstance(user, User):
        return f"requests of {user.pk}", requests_per_minute(user.plan)
    return f"requests from {client_network(address_of_client(request))}", settings.RATE_LIMIT_ANONYMOUS
