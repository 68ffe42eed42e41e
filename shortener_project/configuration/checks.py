"""System checks for combinations of valid settings, registered when the app is ready."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Tags, register
from django.urls import URLResolver, get_resolver

from common.rest.api import ApiViewSet


@register(Tags.files)
def check_geoip_files(**options: Any) -> list[CheckMessage]:
    return [
        checks.Warning(
            f"GEOIP_DATABASE names {file}, which does not exist.",
            hint="Clicks are counted without cities until the file is there.",
            id="configuration.W001",
        )
        for file in settings.GEOIP_DATABASE
        if not file.is_file()
    ]


@register(Tags.security, deploy=True)
def check_tls(**options: Any) -> list[CheckMessage]:
    if settings.SESSION_COOKIE_SECURE:
        return []
    return [
        checks.Warning(
            "BASE_URL is not an https URL.",
            hint="Without TLS, keys, passwords and cookies can be read in transit.",
            id="configuration.W002",
        )
    ]


@register(Tags.security, deploy=True)
def check_proxy(**options: Any) -> list[CheckMessage]:
    if not settings.SESSION_COOKIE_SECURE or settings.TRUSTED_PROXIES:
        return []
    return [
        checks.Warning(
            "BASE_URL is an https URL, but TRUSTED_PROXIES is empty.",
            hint="All clients appear to have the address of the proxy that ends TLS and share one limit.",
            id="configuration.W003",
        )
    ]


@register(Tags.urls)
def check_access(**options: Any) -> list[CheckMessage]:
    """Each action of the API declares who may call it. An action without an entry refuses everybody."""
    return [
        checks.Error(
            f"{view.__name__}.{action} is not in the view's access.",
            hint="Name the role and the scope, or OWN_ACCOUNT for an action on the caller's own account.",
            id="configuration.E001",
        )
        for view, action in sorted(_private_actions(get_resolver()), key=str)
        if action not in view.access
    ]


def _private_actions(resolver: URLResolver) -> Iterator[tuple[type[ApiViewSet], str]]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _private_actions(pattern)
            continue
        view = getattr(pattern.callback, "cls", None)
        if isinstance(view, type) and issubclass(view, ApiViewSet) and view.permission_classes:
            yield from ((view, action) for action in set(getattr(pattern.callback, "actions", {}).values()))
