"""The dashboard's page, its files, and the session of its browser. Its data come from the public API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from accounts.identities import PROVIDER_LOGOUT
from accounts.models import User
from accounts.second_factor import SecondFactorRequired, lacks_second_factor
from accounts.sessions.lifecycle import token_for_browser
from common.database import is_outage
from common.errors import TooManyRequests
from common.host.metrics import count_database_error
from common.http.browser_headers import protect_page
from common.http.client_address import address_of_client, client_network
from common.http.languages import preferred
from dashboard import files
from dashboard.brand_style import stylesheet
from dashboard.brand_style import version as brand_version
from dashboard.document import document
from limits.rates import spend_request

# Images: QR codes and icons of the style. `trusted-types 'none'` forbids every way to turn a text into code.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_YEAR = 365 * 24 * 60 * 60


@require_safe
def page(request: HttpRequest, module: str, pages: dict[str, str], **parameters: Any) -> HttpResponse:
    """The same frame for every path: its script shows the page of the path. Needs no session."""
    language = preferred(request.headers.get("Accept-Language", ""), files.languages())
    response = _compressed(request, document(language, module, pages), "text/html; charset=utf-8")
    protect_page(response, CONTENT_SECURITY_POLICY)
    response["Cache-Control"] = "no-cache"
    response["X-Robots-Tag"] = "noindex"
    patch_vary_headers(response, ["Accept-Language"])
    return response


@require_safe
def unknown_page(request: HttpRequest, address: str, pages: dict[str, str]) -> HttpResponse:
    """The frame, whose script says that there is no such page."""
    response = page(request, "nowhere.js", pages)
    response.status_code = 404
    return response


@require_safe
def file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """While several versions run, any host may get the request. It answers with its own file, which is not kept."""
    asset = files.read(name)
    if asset is None:
        raise Http404
    response = _compressed(request, asset.content, asset.content_type)
    is_current = version == files.version()
    response["Cache-Control"] = f"public, max-age={_YEAR}, immutable" if is_current else "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


@require_safe
def brand_style(request: HttpRequest, version: str) -> HttpResponse:
    response = HttpResponse(stylesheet(), "text/css; charset=utf-8")
    is_current = version == brand_version()
    response["Cache-Control"] = f"public, max-age={_YEAR}, immutable" if is_current else "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _for_own_page(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Allow only requests of the dashboard's own page, with the cookie of its browser."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not _is_same_origin(request):
            return _refuse(403, "forbidden", "Only the dashboard's own page may call this.")
        try:
            if not request.user.is_authenticated and (limit := settings.RATE_LIMIT_ANONYMOUS):
                spend_request(f"sessions of {client_network(address_of_client(request))}", limit)
            return view(request)
        except TooManyRequests as error:
            return _refuse(error.status, error.code, error.message, error.headers)
        except Error as error:
            count_database_error("page")
            if not is_outage(error):
                raise
            return _refuse(503, "unavailable", "The service is temporarily unavailable. Try again shortly.")

    return require_POST(guarded)


@_for_own_page
def token(request: HttpRequest) -> HttpResponse:
    """A short access token. Without a session of the browser, or once it has ended: 401.

    403 if REQUIRE_2FA demands a second factor that the account does not have yet.
    """
    user, stored_key = request.user, getattr(request.session, "stored_key", None)
    if not isinstance(user, User) or stored_key is None:
        return _refuse(401, "not_authenticated", "Sign in first.")
    if lacks_second_factor(user):
        return _refuse(403, SecondFactorRequired.code, SecondFactorRequired.message)
    issued = token_for_browser(user, stored_key)
    if issued is None:
        logout(request)
        return _refuse(401, "not_authenticated", "The session has ended. Sign in again.")
    return _respond(200, {"success": True, "token": issued.access, "expiresIn": issued.lifetime})


@_for_own_page
def sign_out(request: HttpRequest) -> HttpResponse:
    """``next`` is the page of the OpenID provider that ends its own session, too."""
    address = request.session.get(PROVIDER_LOGOUT)
    logout(request)
    body = {"success": True, "message": "Signed out successfully."}
    return _respond(200, body if address is None else {**body, "next": address})


def _compressed(request: HttpRequest, content: files.Content, content_type: str) -> HttpResponse:
    is_compressed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(content.gzipped if is_compressed else content.plain, content_type)
    if is_compressed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _refuse(
    status: int, code: str, message: str, headers: Mapping[str, str] = MappingProxyType({})
) -> HttpResponse:
    response = _respond(status, {"success": False, "message": message, "code": code})
    for name, value in headers.items():
        response[name] = value
    return response


def _respond(status: int, body: dict[str, Any]) -> HttpResponse:
    response = JsonResponse(body, status=status)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    if status == 503:
        response["Retry-After"] = "2"
    return response


def _is_same_origin(request: HttpRequest) -> bool:
    """Return whether the dashboard's own page sent the request: other sites can make a browser send its cookies, too.

    Browsers send ``Origin`` with each POST request, and scripts of a page cannot change it.

    BASE_URL is accepted besides the origin as this process sees it: a proxy that ends TLS may be missing from
    TRUSTED_PROXIES.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return False
    own = {settings.BASE_URL, f"{request.scheme}://{request.META.get('HTTP_HOST', '')}"}
    return request.headers.get("Origin") in own
