"""What runs around a view, and for which paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseForbidden
from django.middleware.csrf import CsrfViewMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

from common.browser_headers import protect_page
from common.client_address import client_address, is_within
from common.hosts import canonical_host, is_address

GetResponse = Callable[[HttpRequest], HttpResponse]

# Codes may begin like our paths, so these end where a segment does.
_SYSTEM_PAGES = frozenset({"/api", "/admin", "/metrics"})
_SYSTEM_PATHS = ("/api/", "/admin/", "/internal/", "/static/", "/qr/")


class SystemHostMiddleware:
    """The API and the admin exist on the service's own host only, never on a customer's domain.

    An address literal is nobody's domain, so probes and callers inside the network may use one.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        is_system = path in _SYSTEM_PAGES or path.startswith(_SYSTEM_PATHS)
        if is_system and not is_on_system_host(request):
            raise Http404
        return self.get_response(request)


class AdminNetworksMiddleware:
    """Where networks are named for the admin, it does not exist for anybody else."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if settings.ADMIN_ALLOWED_NETWORKS and (path == "/admin" or path.startswith("/admin/")):
            address = client_address(
                request.META.get("REMOTE_ADDR", ""),
                request.META.get("HTTP_X_FORWARDED_FOR", ""),
                settings.TRUSTED_PROXIES,
            )
            if not is_within(address, settings.ADMIN_ALLOWED_NETWORKS):
                raise Http404
        return self.get_response(request)


def is_on_system_host(request: HttpRequest) -> bool:
    host = canonical_host(request.META.get("HTTP_HOST", ""))
    return host is not None and (host in settings.BASE_HOSTS or is_address(host))


class ContentLengthMiddleware:
    """Says how long an answer is, without which the server would send it in chunks."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.streaming and not response.has_header("Content-Length"):
            response["Content-Length"] = str(len(response.content))
        return response


class HstsMiddleware:
    """Over TLS: this host is not to be asked in any other way. Redirects are left to the proxy that ends TLS."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._value = f"max-age={settings.SECURE_HSTS_SECONDS}"

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if settings.SECURE_HSTS_SECONDS and request.is_secure() and not response.has_header("Location"):
            response["Strict-Transport-Security"] = self._value
        return response


class _AdminOnly:
    """Skips the middleware it is mixed into, except under /admin and the paths that serve its files."""

    prefixes = ("/admin/",)
    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(self.prefixes):
            return super().__call__(request)  # type: ignore[misc] # the middleware's that this is mixed into
        return self.get_response(request)


class AdminStaticFiles(_AdminOnly, WhiteNoiseMiddleware):  # type: ignore[misc] # it carries no types
    prefixes = ("/static/",)


class AdminPages:
    """Every page of the admin runs the admin's own files only, and is kept by nobody.

    Django's templates have no scripts or styles in them, so that none needs to be allowed.
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


class AdminSessions(_AdminOnly, SessionMiddleware):
    pass


class AdminCsrf(_AdminOnly, CsrfViewMiddleware):
    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponseForbidden | None:
        if request.path_info.startswith(self.prefixes):
            return super().process_view(request, *args)
        return None


class AdminAuthentication(_AdminOnly, AuthenticationMiddleware):
    pass


class AdminMessages(_AdminOnly, MessageMiddleware):
    pass
