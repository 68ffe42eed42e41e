"""Every public view refuses these: other methods, hosts that are not set up, and networks that guess codes.

A network that has requested too many unknown codes still gets the links that it followed before. The fast lane decides
with the same functions.

Requests for a host that is not set up are reported to the operator: they are for a domain without its verification, or
come from a proxy that replaces the Host header.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, wraps
from typing import Concatenate, ParamSpec

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse

from common.database import is_outage
from common.errors import TooManyAttempts, Unavailable
from common.host.limited_warnings import LimitedWarnings
from common.host.metrics import count_database_error
from common.http.urls import is_address
from domains.selectors import active_domain
from links.guess_counts import guesses, too_many_guesses
from pages.refusals import Refusal
from pages.responses import refuse, refuse_attempts, refuse_method
from redirects import refusals

Rest = ParamSpec("Rest")
View = Callable[Concatenate[HttpRequest, Rest], HttpResponse]


def guarded(*methods: str) -> Callable[[View[Rest]], View[Rest]]:
    """Allow only ``methods``. Django's own decorators reply to others with an empty page."""

    def guard(view: View[Rest]) -> View[Rest]:
        @wraps(view)
        def answer(request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
            if request.method not in methods:
                return refuse_method(request, methods)
            try:
                return view(request, *args, **kwargs)
            except Error as error:
                count_database_error("redirect")
                if not is_outage(error):
                    raise
                return refuse(request, refusals.UNAVAILABLE)
            except Unavailable:
                return refuse(request, refusals.UNAVAILABLE)

        return answer

    return guard


def refuse_unknown_host(request: HttpRequest, host: str | None) -> HttpResponse:
    """Report the host in the log, and refuse. ``host``: canonical; None if the header names none."""
    report_unknown_host(host)
    return refuse(request, refusals.UNKNOWN_HOST)


def is_unknown_host(host: str | None) -> bool:
    """Return whether paths that are not codes refuse the host."""
    return missing_page(host) is refusals.UNKNOWN_HOST


def missing_page(host: str | None) -> Refusal:
    """Return the refusal of a path that is not a code.

    An IP address serves the API and the admin, so it is not unknown. During a database outage every host
    counts as known.
    """
    if host is None:
        return refusals.UNKNOWN_HOST
    if host in settings.BASE_HOSTS or is_address(host):
        return refusals.NOT_FOUND
    try:
        domain = active_domain(host)
    except Error:
        count_database_error("page")
        return refusals.NOT_FOUND
    if domain is None:
        return refusals.UNKNOWN_HOST
    return refusals.in_words_of(domain.pages_json, refusals.NOT_FOUND)


def link_key(site: str, code: bytes) -> bytes:
    """Return the cache key of a link on a site. Codes contain no "@"."""
    return code + b"@" + site.encode() if site else code


def refusal_for(address: str, link: bytes) -> TooManyAttempts | None:
    """Return the refusal if the network exceeds its limit and has not followed this link before, else None."""
    wait = guesses().refused_for(address)
    return too_many_guesses(wait) if wait and not guesses().followed.has_followed(address, link) else None


def refuse_network(request: HttpRequest, address: str, link: bytes) -> HttpResponse | None:
    """Return the refusal page if `refusal_for` refuses the network, else None."""
    error = refusal_for(address, link)
    return None if error is None else refuse_attempts(request, refusals.GUESSING, error)


def spend_guess(request: HttpRequest, address: str) -> HttpResponse | None:
    """Count a request for an unknown code. Return the refusal if the network has exhausted its limit."""
    try:
        guesses().spend(address)
    except TooManyAttempts as error:
        return refuse_attempts(request, refusals.GUESSING, error)
    return None


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
