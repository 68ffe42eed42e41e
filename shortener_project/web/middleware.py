"""The middlewares of the project. Django's own do more than an API request or a redirect needs.

Every API request is logged, and its latency recorded.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from corsheaders.middleware import CorsMiddleware
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseForbidden
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

from accounts.request_log.recorder import record
from accounts.sessions.store import SessionStore
from common.errors import TooManyRequests
from common.host.limited_warnings import report_if_untrusted_proxy
from common.host.metrics import observe_api_request
from common.http.browser_headers import protect_page
from common.http.client_address import address_of_client, client_network, is_internal, is_trusted, is_within
from common.http.current_request import Actor, AuthMethod, accepted_languages, actor, request_id
from common.http.urls import canonical_host, is_address
from common.ids import new_public_id
from limits.rates import spend_request
from pages.responses import refuse_attempts
from shortener_project.web.traces import GetResponse, respond_within, trace_of_proxy
from sign_in import refusals
from sign_in.openid_connect.identities import limit_staff

# Codes may start with these words, so match whole path segments.
_SYSTEM_PAGES = frozenset({"/accounts", "/api", "/admin", "/dashboard", "/mcp", "/metrics", "/reports"})
_SYSTEM_PATHS = (
    "/accounts/",
    "/api/",
    "/admin/",
    "/dashboard/",
    "/internal/",
    "/static/",
    "/qr/",
    "/reports/",
)
# The paths that read the cookie of a browser's session.
WITH_SESSION = ("/accounts/", "/admin/", "/dashboard/session/")


class SystemHostMiddleware:
    """The API and the pages of accounts exist only on the service's own host, never on a customer's domain.

    An IP address literal belongs to no customer, so probes and internal callers can use one.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        is_system = path in _SYSTEM_PAGES or path.startswith(_SYSTEM_PATHS) or _is_of_api(path)
        if is_system and not is_on_system_host(request):
            raise Http404
        return self.get_response(request)


class AdminNetworksMiddleware:
    """If ADMIN_ALLOWED_NETWORKS is set, the admin returns 404 to clients outside these networks."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path, allowed = request.path_info, settings.ADMIN_ALLOWED_NETWORKS
        is_admin = path == "/admin" or path.startswith("/admin/")
        if allowed and is_admin and not is_within(address_of_client(request), allowed):
            raise Http404
        return self.get_response(request)


def is_on_system_host(request: HttpRequest) -> bool:
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    return host is not None and (host in settings.BASE_HOSTS or is_address(host))


class ContentLengthMiddleware:
    """Sets Content-Length; without it the server would send the response in chunks."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.streaming and not response.has_header("Content-Length"):
            response["Content-Length"] = str(len(response.content))
        return response


class HstsMiddleware:
    """Sets Strict-Transport-Security on requests over TLS. The proxy that ends TLS does this for redirects."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._value = f"max-age={settings.SECURE_HSTS_SECONDS}"

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if settings.SECURE_HSTS_SECONDS and request.is_secure() and not response.has_header("Location"):
            response["Strict-Transport-Security"] = self._value
        return response


class _PagesOnly:
    """Skips the middleware that it is mixed into, except under these path prefixes."""

    prefixes: tuple[str, ...] = ("/admin/", "/accounts/")
    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(self.prefixes):
            return super().__call__(request)  # type: ignore[misc] # defined by the other base class
        return self.get_response(request)


class CrossOriginMiddleware(CorsMiddleware):
    """Answers browsers on other origins. Requests without an origin, as all servers send them, cost less."""

    def __call__(self, request: HttpRequest) -> Any:
        if "HTTP_ORIGIN" in request.META:
            return super().__call__(request)
        response = cast(HttpResponse, self.get_response(request))
        if self.is_enabled(request):
            patch_vary_headers(response, ["origin"])
        return response


class StaticFiles(_PagesOnly, WhiteNoiseMiddleware):
    prefixes = ("/static/",)


class AdminPages:
    """Admin pages load only the admin's own files and are never cached.

    Django's admin templates contain no inline scripts or styles, so the policy allows none.
    """

    POLICY = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith("/admin/"):
            protect_page(response, self.POLICY)
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class PageSessions(_PagesOnly, SessionMiddleware):
    prefixes = WITH_SESSION


class PageCsrf(_PagesOnly, CsrfViewMiddleware):
    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponseForbidden | None:
        if request.path_info.startswith(self.prefixes):
            return super().process_view(request, *args)
        return None


class PageAuthentication(_PagesOnly, AuthenticationMiddleware):
    prefixes = WITH_SESSION

    def process_request(self, request: HttpRequest) -> None:
        """A request for a token does not record a use of the session: the API requests that follow do."""
        super().process_request(request)
        if request.path_info.startswith(_PagesOnly.prefixes) and request.user.is_authenticated:
            limit_staff(request)
            cast(SessionStore, request.session).record_use()


class PageActor:
    """Sets the logged-in account as the actor of changes; nobody before a login. Comes after `PageAuthentication`."""

    _VIA = {"admin": AuthMethod.OPERATOR, "accounts": AuthMethod.PAGE}

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(_PagesOnly.prefixes):
            return self.get_response(request)
        via = self._VIA[request.path_info.split("/")[1]]
        token = actor.set(Actor(request.user.pk, via))
        try:
            return self.get_response(request)
        finally:
            actor.reset(token)


class AdminRequests:
    """Limits the requests of a network to the admin without a session. Comes after `PageAuthentication`."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        limit = settings.RATE_LIMIT_ANONYMOUS
        if limit and request.path_info.startswith("/admin/") and not request.user.is_authenticated:
            try:
                spend_request(f"admin pages for {client_network(address_of_client(request))}", limit)
            except TooManyRequests as error:
                return refuse_attempts(request, refusals.PAGES_LIMITED, error)
        return self.get_response(request)


class PageMessages(_PagesOnly, MessageMiddleware):
    pass


class UntrustedProxyMiddleware:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # The internal listener does not use the header, whoever sends it.
        if request.META.get("HTTP_X_FORWARDED_FOR") and not is_internal(request.META):
            report_if_untrusted_proxy(request.META.get("REMOTE_ADDR", ""), tuple(settings.TRUSTED_PROXIES))
        return self.get_response(request)


_BOTH = frozenset({"/healthz", "/readyz"})


class InternalListenerMiddleware:
    """Serves ``/metrics`` and ``/internal/`` only on the internal listener, and every other path except the health
    probes only on the public port.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if path not in _BOTH:
            is_internal_path = path in ("/metrics", "/internal") or path.startswith("/internal/")
            if is_internal_path != is_internal(request.META):
                raise Http404
        return self.get_response(request)


# Requests of the API, by whatever protocol.
_API = frozenset({"/api", "/mcp"})
_OF_COMPATIBLE_APIS = ("/rest/", "/v4/")


def _is_of_api(path: str) -> bool:
    if path.startswith("/api/") or path in _API:
        return True
    return bool(settings.COMPATIBLE_APIS) and path.startswith(_OF_COMPATIBLE_APIS)


_FORMAT = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestIdMiddleware:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if not path.startswith(WITH_SESSION) and not _is_of_api(path):
            return self.get_response(request)
        identifier = _identifier(request.META)
        token = request_id.set(identifier)
        languages = accepted_languages.set(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))
        current = trace_of_proxy(request.META) if "HTTP_TRACEPARENT" in request.META else None
        try:
            if current is None:
                response = self.get_response(request)
            else:
                response = respond_within(current, self.get_response, request)
        finally:
            request_id.reset(token)
            accepted_languages.reset(languages)
        response["X-Request-ID"] = identifier
        return response


def _identifier(meta: Mapping[str, Any]) -> str:
    """The id from a trusted proxy, or a new one."""
    proxy_id: str = meta.get("HTTP_X_REQUEST_ID", "")
    if _FORMAT.fullmatch(proxy_id) and is_trusted(meta.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES):
        return proxy_id
    return str(new_public_id())


_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

log = logging.getLogger(__name__)


class ApiRequestMiddleware:
    """Logs the route, never the path or query, which may contain secrets that callers put there by mistake."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _is_of_api(request.path_info):
            return self.get_response(request)
        started = time.perf_counter()
        response = self.get_response(request)
        _report(request, response, time.perf_counter() - started)
        return response


def _report(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    # Without a matching route, do not use the path: each path would become a separate metric.
    route = documented_route(request.resolver_match.route) if request.resolver_match else "unmatched"
    observe_api_request(route, response.status_code, seconds)
    fields = {
        "method": request.method,
        "route": route,
        "status": response.status_code,
        "milliseconds": round(seconds * 1000, 1),
    }
    if (account := getattr(getattr(request, "user", None), "public_id", None)) is not None:
        fields["account"] = str(account)
    code = None
    if response.status_code >= 400 and "code" in (data := getattr(response, "data", None) or {}):
        code = fields["code"] = str(data["code"])
    record(request, route=route, status=response.status_code, code=code, seconds=seconds)
    if settings.LOG_ADDRESSES:
        fields["address"] = address_of_client(request)
    log.info("API request", extra={"fields": fields})


@lru_cache(maxsize=1000)
def documented_route(route: str) -> str:
    return "/" + _PARAMETER.sub(r"{\1}", route)
