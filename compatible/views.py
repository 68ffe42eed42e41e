"""What the views of all imitated APIs share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.callers import Caller
from accounts.models import Workspace
from common.errors import NotFound, WorkspaceNotFound
from common.http.short_urls import BASE_ID
from common.http.urls import canonical_host
from common.rest.inner_calls import Action, CallingView
from domains.models import Domain
from links.views import LinkViewSet, LookUpViewSet

CREATE = Action(LinkViewSet, "create", "post", "/api/urls")
LIST = Action(LinkViewSet, "list", "get", "/api/urls")
RESOLVE = Action(LookUpViewSet, "resolve", "get", "/api/urls/resolve")
# All fields of a new link.
WHOLE = {"HTTP_PREFER": "return=representation"}


class CompatibleView(CallingView):
    # Not an operation of the API.
    schema = None
    error_type = "application/json"

    def error(self, status: int, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and body by which the imitated API tells of an error of this one's."""
        raise NotImplementedError

    def handle_exception(self, exc: Exception) -> Response:
        return self.refused(super().handle_exception(exc))

    def refused(self, response: Response) -> Response:
        """The same response in the other form, with its headers."""
        response.status_code, response.data = self.error(response.status_code, response.data)
        response.content_type = self.error_type
        return response


def body_of(request: Request) -> dict[str, Any]:
    """The parser accepts objects only."""
    return cast(dict[str, Any], request.data)


def workspace_in(request: Request) -> Workspace:
    """The workspace in which the caller acts. Raises NotFound for one of which the caller is not a member."""
    workspace = cast(Caller, request.auth).workspace
    if workspace is None:
        raise WorkspaceNotFound
    return workspace


def domain_id_of(request: Request, domain: Any) -> str:
    """The id of the domain that a client names by its host. Raises NotFound."""
    workspace = workspace_in(request)
    host = canonical_host(domain) if isinstance(domain, str) else None
    if host in settings.BASE_HOSTS:
        return BASE_ID
    found = None if host is None else Domain.objects.usable_by(workspace).filter(host=host).first()
    if found is None:
        raise NotFound("Domain not found.")
    return str(found.public_id)


def address_of(url: Mapping[str, Any]) -> str:
    """The host of a link's short URL, with a port if it has one."""
    address: str = urlsplit(url["shortUrl"]).netloc
    return address


def leads_to(url: Mapping[str, Any]) -> str:
    target: str = url.get("targetUrl") or url["originalUrl"]
    return target


def moment(text: str | None, zone: str) -> str | None:
    """A time of the API in whole seconds, with another sign of UTC than ``Z``."""
    return None if text is None else f"{text[:19]}{zone}"
