"""Refuses networks that guess codes; links that they followed before still work."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from common.errors import TooManyAttempts
from common.host.guess_counts import guesses, too_many_guesses
from pages.responses import refuse_attempts
from redirects import refusals


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
