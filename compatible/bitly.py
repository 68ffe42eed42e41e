"""Bitly's API, version 4: what its clients need to shorten and expand. See https://dev.bitly.com/api-reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.rights import KEY_PREFIXES
from common.rest.access import OWN_ACCOUNT
from compatible.views import (
    CREATE,
    RESOLVE,
    WHOLE,
    CompatibleView,
    address_of,
    body_of,
    domain_id_of,
    leads_to,
    moment,
    workspace_in,
)
from links.key_limits import may_read_links

# Bitly's own, which clients name by default.
_BITLY = ("bit.ly", "j.mp")
_FIELDS = {"long_url": "originalUrl", "title": "title", "tags": "tags"}
_NAMES = {ours: theirs for theirs, ours in _FIELDS.items()} | {"shortUrl": "bitlink_id"}
_MESSAGES = {
    401: "FORBIDDEN",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    422: "UNPROCESSABLE_ENTITY",
    429: "RATE_LIMIT_EXCEEDED",
    503: "TEMPORARILY_UNAVAILABLE",
}


class BitlinksView(CompatibleView):
    access = dict.fromkeys(("create", "expand", "retrieve", "groups"), OWN_ACCOUNT)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Bitly also accepts a token without a scheme, and some clients send no other.
        if (key := request.META.get("HTTP_AUTHORIZATION", "")).startswith(KEY_PREFIXES):
            request.META["HTTP_X_API_KEY"] = key
        super().initial(request, *args, **kwargs)

    def create(self, request: Request) -> Response:
        sent = body_of(request)
        body = {ours: sent[theirs] for theirs, ours in _FIELDS.items() if sent.get(theirs) is not None}
        if sent.get("domain") not in (None, *_BITLY):
            body["domainId"] = domain_id_of(request, sent["domain"])
        if may_read_links(workspace_in(request)):
            # Bitly shortens a URL once for each group.
            body["findIfExists"] = True
        response = CREATE.call(request, body=body, headers=WHOLE)
        if response.status_code >= 400:
            return self.refused(response)
        return Response(_bitlink(request, response.data["data"]["url"]), status=response.status_code)

    def expand(self, request: Request) -> Response:
        shown = self._resolved(request, body_of(request).get("bitlink_id"))
        if shown.status_code < 400:
            shown.data = {name: shown.data[name] for name in ("created_at", "id", "link", "long_url")}
        return shown

    def retrieve(self, request: Request, bitlink: str) -> Response:
        return self._resolved(request, bitlink)

    def groups(self, request: Request) -> Response:
        workspace = workspace_in(request)
        group = {"guid": str(workspace.public_id), "name": workspace.name, "is_active": True, "bsds": []}
        return Response({"groups": [group]})

    def _resolved(self, request: Request, bitlink: Any) -> Response:
        host, _, code = str(bitlink).rpartition("/")
        address = settings.BASE_URL if host in _BITLY else host
        response = RESOLVE.call(request, query={"shortUrl": f"{address}/{code}"})
        if response.status_code >= 400:
            return self.refused(response)
        return Response(_bitlink(request, response.data["data"]["url"]))

    def error(self, status: int, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        errors = [
            {"field": _NAMES.get(broken["field"], broken["field"]), "error_code": broken["code"]}
            for broken in body.get("errors", ())
        ]
        message = (
            f"INVALID_ARG_{errors[0]['field'].upper()}" if errors else _MESSAGES.get(status, "BAD_REQUEST")
        )
        shown = {"message": message, "description": body["message"], "resource": "bitlinks"}
        # Bitly has no 401.
        return (403 if status == 401 else status), {**shown, **({"errors": errors} if errors else {})}


def _bitlink(request: Request, url: Mapping[str, Any]) -> dict[str, Any]:
    link = url["shortUrl"]
    group = f"{settings.BASE_URL}/v4/groups/{workspace_in(request).public_id}"
    return {
        "created_at": moment(url["createdAt"], "+0000"),
        "id": f"{address_of(url)}/{link.rpartition('/')[2]}",
        "link": link,
        "custom_bitlinks": [link] if url["customCode"] else [],
        "long_url": leads_to(url),
        "title": url["title"],
        "archived": url.get("isArchived", False),
        "tags": url["tags"],
        "deeplinks": [],
        "references": {"group": group},
    }
