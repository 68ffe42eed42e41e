"""Codes are guessed by asking for many: who asks in vain too often waits. Links that exist are not counted."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.limits import Limit, spend_attempt
from common.client_address import client_network
from common.errors import TooManyAttempts
from redirects import refusals
from redirects.pages import refuse_attempts


def refuse_guesses(request: HttpRequest, address: str) -> HttpResponse | None:
    """Of a code that there is not: None while the network has any left in this minute."""
    if not settings.UNKNOWN_CODE_LIMIT:
        return None
    try:
        spend_attempt(
            f"unknown code {client_network(address)}", Limit(settings.UNKNOWN_CODE_LIMIT, seconds=60)
        )
    except TooManyAttempts as error:
        return refuse_attempts(request, refusals.GUESSING, error)
    return None
