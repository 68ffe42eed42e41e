"""The admin's door, locked after a few failures like the API's. Failures at either count at both."""

from __future__ import annotations

import unicodedata

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.limits import forgive_attempts, spend_attempts
from accounts.services import login_limits
from accounts.throttling import address_of_client
from common.errors import TooManyAttempts
from redirects import refusals
from redirects.pages import refuse_attempts

FAILURES_ALLOWED = 5


def login(request: HttpRequest) -> HttpResponseBase:
    if request.method != "POST":
        return admin.site.login(request)
    # As the form reads it, so that no other spelling of an account has failures of its own left.
    email = unicodedata.normalize("NFKC", request.POST.get("username", "").strip())
    limits = login_limits(email=email, address=address_of_client(request), most=FAILURES_ALLOWED)
    try:
        spend_attempts(limits)
    except TooManyAttempts as error:
        return refuse_attempts(request, refusals.LOGIN_LIMITED, error)
    response = admin.site.login(request)
    if response.status_code == 302:
        forgive_attempts(limits)
    return response
