"""Shlink's API, version 3: what its clients need to create and find links. See https://api-spec.shlink.io."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.callers import workspace_of
from common.http.short_urls import BASE_ID
from common.rest.access import OWN_ACCOUNT
from common.rest.pagination import MAX_LIMIT
from compatible.views import (
    CREATE,
    LIST,
    RESOLVE,
    WHOLE,
    CompatibleView,
    address_of,
    body_of,
    domain_id_of,
    leads_to,
    moment,
)
from links.models import Link
from links.tags.texts import text_of

# Clients compare it to learn which calls exist.
VERSION = "4.6.0"
# Shlink's names of our fields, in bodies and in errors.
_FIELDS = {
    "longUrl": "originalUrl",
    "customSlug": "customCode",
    "title": "title",
    "tags": "tags",
    "validSince": "startsAt",
    "validUntil": "expiresAt",
    "forwardQuery": "forwardQuery",
    "findIfExists": "findIfExists",
}
_NAMES = {ours: theirs for theirs, ours in _FIELDS.items()} | {
    "restrictions": "maxVisits",
    "domainId": "domain",
}
_PARAMETERS = {
    "page": "page",
    "searchTerm": "search",
    "tagsMode": "tagsMode",
    "startDate": "createdFrom",
    "endDate": "createdBefore",
}
_LISTS = {"tags[]": "tags", "excludeTags[]": "excludeTags"}
# The others are sorted by date.
_SORTED_BY = {"title": "title", "visits": "clickCount", "nonBotVisits": "clickCount"}
_DEFAULT_DOMAIN = "DEFAULT"
_TYPES = "https://shlink.io/api/error/"
_DEFAULT_LIMIT = 10


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "pass", "version": VERSION})


class ShortUrlsView(CompatibleView):
    access = {"create": OWN_ACCOUNT, "list": OWN_ACCOUNT, "retrieve": OWN_ACCOUNT}
    error_type = "application/problem+json"

    def create(self, request: Request) -> Response:
        sent = body_of(request)
        body = {ours: sent[theirs] for theirs, ours in _FIELDS.items() if sent.get(theirs) is not None}
        if sent.get("maxVisits") is not None:
            body["restrictions"] = {"maxClicks": sent["maxVisits"]}
        if sent.get("domain") not in (None, _DEFAULT_DOMAIN):
            body["domainId"] = domain_id_of(request, sent["domain"])
        response = CREATE.call(request, body=body, headers=WHOLE)
        if response.status_code >= 400:
            return self.refused(response)
        return Response(_short_url(response.data["data"]["url"], response.data["data"]["url"]))

    def list(self, request: Request) -> Response:
        sent = request.query_params
        query = {ours: sent[theirs] for theirs, ours in _PARAMETERS.items() if theirs in sent}
        query |= {ours: text_of(sent.getlist(theirs)) for theirs, ours in _LISTS.items() if theirs in sent}
        field, _, direction = sent.get("orderBy", "").partition("-")
        query["sortBy"] = _SORTED_BY.get(field, "createdAt")
        query["sortOrder"] = "asc" if direction.upper() == "ASC" else "desc"
        query["limit"] = _limit(sent.get("itemsPerPage", ""))
        if "domain" in sent:
            is_default = sent["domain"] == _DEFAULT_DOMAIN
            query["domainId"] = BASE_ID if is_default else domain_id_of(request, sent["domain"])
        response = LIST.call(request, query=query)
        if response.status_code >= 400:
            return self.refused(response)
        urls, page = response.data["data"]["urls"], response.data["data"]["pagination"]
        more = _more_of(request, [url["_id"] for url in urls])
        shown = [_short_url(url, more[str(url["_id"])]) for url in urls if str(url["_id"]) in more]
        pagination = {
            "currentPage": page["page"],
            "pagesCount": page["pages"],
            "itemsPerPage": page["limit"],
            "itemsInCurrentPage": len(shown),
            "totalItems": page["total"],
        }
        return Response({"shortUrls": {"data": shown, "pagination": pagination}})

    def retrieve(self, request: Request, code: str) -> Response:
        domain = request.query_params.get("domain", _DEFAULT_DOMAIN)
        address = settings.BASE_URL if domain == _DEFAULT_DOMAIN else f"https://{domain}"
        response = RESOLVE.call(request, query={"shortUrl": f"{address}/{code}"})
        if response.status_code >= 400:
            return self.refused(response)
        url = response.data["data"]["url"]
        return Response(_short_url(url, url))

    def error(self, status: int, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        kind, title, added = self._kind(status, body)
        # A taken code is one of their invalid values.
        status = 400 if kind == "non-unique-slug" else status
        problem = {
            "type": f"{_TYPES}{kind}" if kind else "about:blank",
            "title": title,
            "detail": body["message"],
            "status": status,
        }
        return status, {**problem, **added}

    def _kind(self, status: int, body: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
        code = body["code"]
        if status == 401:
            if "HTTP_X_API_KEY" in self.request.META:
                return "invalid-api-key", "Invalid API key", {}
            return "missing-authentication", "Invalid authorization", {"expectedHeaders": ["X-Api-Key"]}
        if code == "code_taken":
            return (
                "non-unique-slug",
                "Invalid custom slug",
                {"customSlug": body_of(self.request).get("customSlug")},
            )
        if status == 400:
            broken = (error["field"].partition(".")[0] for error in body.get("errors", ()))
            names = list(dict.fromkeys(_NAMES.get(name, name) for name in broken))
            return "invalid-data", "Invalid data", {"invalidElements": names}
        if status == 404 and body["message"] == "Domain not found.":
            return "domain-not-found", "Domain not found", {}
        if status == 404 and "code" in self.kwargs:
            return "short-url-not-found", "Short URL not found", {"shortCode": self.kwargs["code"]}
        return "", HTTPStatus(status).phrase, {"code": code}


def _limit(items: str) -> str:
    """-1 asks for everything."""
    if items == "-1" or (items.isascii() and items.isdigit() and int(items[:9]) > MAX_LIMIT):
        return str(MAX_LIMIT)
    return items or str(_DEFAULT_LIMIT)


def _more_of(request: Request, ids: list[Any]) -> dict[str, dict[str, Any]]:
    """What our lists leave out of each link, by its id."""
    links = Link.objects.filter(owner=workspace_of(request), public_id__in=ids)
    return {
        str(public_id): {
            "restrictions": {} if max_clicks is None else {"maxClicks": max_clicks},
            "forwardQuery": forward_query,
            "rules": rules,
        }
        for public_id, max_clicks, forward_query, rules in links.values_list(
            "public_id", "max_clicks", "forward_query", "rules"
        )
    }


def _short_url(url: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """``more`` is the link itself, or what a list leaves out."""
    clicks = url["clickCount"]
    return {
        "shortUrl": url["shortUrl"],
        "shortCode": url["shortUrl"].rpartition("/")[2],
        "longUrl": leads_to(url),
        "dateCreated": moment(url["createdAt"], "+00:00"),
        "visitsSummary": {"total": clicks, "nonBots": clicks, "bots": 0},
        "tags": url["tags"],
        "meta": {
            "validSince": moment(url.get("startsAt"), "+00:00"),
            "validUntil": moment(url.get("expiresAt"), "+00:00"),
            "maxVisits": more.get("restrictions", {}).get("maxClicks"),
        },
        "domain": None if url.get("domainId", BASE_ID) == BASE_ID else address_of(url),
        "title": url["title"],
        "crawlable": False,
        "forwardQuery": more.get("forwardQuery", False),
        "hasRedirectRules": bool(more.get("rules")),
    }
