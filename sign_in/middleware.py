"""Runs allauth's pages: the middleware that protects them, their style, and their content security policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from allauth.account.middleware import AccountMiddleware
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import override

from accounts.second_factor import UnreadableSecret
from common.brand import brand_context
from common.errors import TooManyAttempts
from common.http.browser_headers import protect_page
from common.http.client_address import address_of_client, client_network
from common.http.languages import page_language
from limits.rates import spend_request
from pages.responses import refuse_attempts
from pages.style import style, style_source, stylesheet
from sign_in import refusals

PREFIX = "/accounts/"
_FURTHER_STYLE = stylesheet(Path(__file__).with_name("style.css"))


def _style() -> str:
    return style() + _FURTHER_STYLE


def content_security_policy() -> str:
    """The scripts, for passkeys, are files of the service. The QR code for authenticator apps is a data: image."""
    return (
        f"default-src 'none'; style-src {style_source(_style())}; script-src 'self'; connect-src 'self'; "
        f"img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


def page_context(request: HttpRequest) -> dict[str, object]:
    """A context processor: the same settings for each page under /accounts/."""
    if not request.path_info.startswith(PREFIX):
        return {}
    return {
        **brand_context(),
        "account_style": _style(),
        "service_host": settings.BASE_HOST,
        "takes_passwords": settings.PASSWORD_LOGIN,
        "has_provider": bool(settings.OIDC_ISSUER),
        "can_sign_up": settings.SIGNUP != "off",
    }


GetResponse = Callable[[HttpRequest], HttpResponse]


class AccountPages:
    """Runs allauth under /accounts/ only, limits the requests of a network there, and protects the pages."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._allauth = AccountMiddleware(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        response = self._respond(request)
        protect_page(response, content_security_policy())
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not request.path_info.startswith(PREFIX):
            return None
        if isinstance(exception, UnreadableSecret):
            # Pages that show or count recovery codes raise it. Forms that take a code report it themselves.
            return render(request, "sign_in/unreadable_codes.html", status=409)
        response: HttpResponse | None = self._allauth.process_exception(request, exception)
        return response

    def _respond(self, request: HttpRequest) -> HttpResponse:
        if limit := settings.RATE_LIMIT_ANONYMOUS:
            try:
                spend_request(f"account pages from {client_network(address_of_client(request))}", limit)
            except TooManyAttempts as error:
                return refuse_attempts(request, refusals.PAGES_LIMITED, error)
        with override(page_language(request.headers.get("Accept-Language", ""))):
            response: HttpResponse = self._allauth(request)
        return response
