"""Serves the documents of apps that may open the links of a domain, from the memory of the process."""

from __future__ import annotations

import os
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from common.http.urls import canonical_host
from domains.app_links import DOCUMENTS
from domains.selectors import app_links_of
from links.destinations.cache import DestinationCache
from redirects.request_guard import guarded

_KEPT = 10_000
_BYTES = 4 * 1024 * 1024


@cache
def documents() -> DestinationCache[bytes | None]:
    """By host and path. Empty: the domain has none; None, which is forgotten soon: there is no such domain."""
    return DestinationCache(_KEPT, _BYTES, lambda document: 0 if document is None else len(document) + 1)


os.register_at_fork(after_in_child=documents.cache_clear)


@guarded("GET", "HEAD")
def app_links(request: HttpRequest) -> HttpResponse:
    """404 where no apps are set, and on the service's own hosts."""
    host, path = canonical_host(request.META.get("HTTP_HOST", "")), request.path_info
    if host is None or host in settings.BASE_HOSTS:
        raise Http404

    def load() -> bytes | None:
        apps = app_links_of(host)
        return None if apps is None else DOCUMENTS[path](apps) or b""

    document = documents().find((host, path), load)
    if not document:
        raise Http404
    response = HttpResponse(document, "application/json")
    response["Cache-Control"] = "public, max-age=300"
    response["X-Content-Type-Options"] = "nosniff"
    return response
