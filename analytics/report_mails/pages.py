"""The page to which mails with reports link, so that their readers get no more of them.

Mail programs send the POST by themselves (RFC 8058). It needs no session: the signed token is the permission. A GET
changes nothing, because scanners of mails follow links.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from analytics.report_mails import refusals
from analytics.report_mails.subscriptions import end, subscription_of
from pages.responses import page, refuse, refuse_method

_METHODS = ("GET", "HEAD", "POST")


def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    if request.method not in _METHODS:
        return refuse_method(request, _METHODS)
    found = subscription_of(token)
    if found is None:
        return refuse(request, refusals.NOT_FOUND)
    if request.method == "POST":
        end(*found)
    context = {"is_done": request.method == "POST", "subscription": found[1].value}
    response = page(request, "analytics/unsubscribe.html", context, forms="'self'")
    response["X-Robots-Tag"] = "noindex"
    return response
