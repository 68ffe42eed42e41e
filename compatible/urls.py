from collections.abc import Collection, Mapping

from django.urls import URLPattern, path

from compatible.bitly import BitlinksView
from compatible.shlink import ShortUrlsView, health

ROUTES: Mapping[str, list[URLPattern]] = {
    "shlink": [
        path("rest/health", health),
        path("rest/v3/health", health),
        path("rest/v3/short-urls", ShortUrlsView.as_view({"get": "list", "post": "create"})),
        path("rest/v3/short-urls/<str:code>", ShortUrlsView.as_view({"get": "retrieve"})),
    ],
    "bitly": [
        path("v4/shorten", BitlinksView.as_view({"post": "create"})),
        path("v4/bitlinks", BitlinksView.as_view({"post": "create"})),
        path("v4/bitlinks/<path:bitlink>", BitlinksView.as_view({"get": "retrieve"})),
        path("v4/expand", BitlinksView.as_view({"post": "expand"})),
        path("v4/groups", BitlinksView.as_view({"get": "groups"})),
    ],
}


def routes_of(apis: Collection[str]) -> list[URLPattern]:
    return [route for api in sorted(apis) for route in ROUTES[api]]
