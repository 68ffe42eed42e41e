"""The WSGI application, which any WSGI server can load."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import reset_queries
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters

from common.http.client_address import mark_internal

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shortener_project.settings")
django.setup()
if not settings.DEBUG:
    # Receivers that do nothing here, in each request: no queries are logged, and the cache has no connections.
    request_started.disconnect(reset_queries)
    request_finished.disconnect(close_caches)
# Imported before gunicorn forks, so that all workers share the routes and rule tables.
import_module(settings.ROOT_URLCONF)


class Application(WSGIHandler):
    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        mark_internal(environ)
        if content_type := environ.get("CONTENT_TYPE"):
            try:
                parse_header_parameters(content_type)
            except (ValueError, LookupError):
                # Django parses this header before its error handling is in place.
                environ["CONTENT_TYPE"] = "application/octet-stream"
        return super().__call__(environ, start_response)


application = Application()
