from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.age import account_age
from accounts.api_requests.idempotency import idempotent
from accounts.callers import account_of, workspace_of
from accounts.credentials.hashing import link_hashing
from accounts.rights.roles import Role
from accounts.rights.scopes import Scope
from common.rest.api import ApiViewSet
from common.rest.envelope import ok
from common.rest.pagination import pagination_of
from common.rest.versions import required_versions, with_etag
from domains.addresses import address_of, base_address
from domains.selectors import count_domains, usable_domains
from links import representations, selectors, services
from links.listing import lists
from links.listing.lists import list_limited_links
from links.listing.options import list_options
from links.schema import describe_links
from links.serializers import CreateLinkSerializer, ListQuery, UpdateLinkSerializer


@describe_links
class LinkViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": ListQuery}
    roles = {
        "list": Role.VIEWER,
        "create": Role.EDITOR,
        "retrieve": Role.VIEWER,
        "update": Role.EDITOR,
        "destroy": Role.EDITOR,
        "stats": Role.VIEWER,
        "available_domains": Role.VIEWER,
    }
    scopes = {
        "list": Scope.URLS_READ,
        "create": Scope.URLS_WRITE,
        "retrieve": Scope.URLS_READ,
        "update": Scope.URLS_WRITE,
        "destroy": Scope.URLS_WRITE,
        "stats": Scope.URLS_READ,
        "available_domains": Scope.URLS_READ,
    }
    limited_keys = ("list", "create", "retrieve", "update", "destroy", "stats", "available_domains")
    bodies = {"create": CreateLinkSerializer, "update": UpdateLinkSerializer}

    def list(self, request: Request) -> Response:
        parameters = self.read_query()
        owner, options = workspace_of(request), list_options(**parameters)
        only_own = owner.key is not None and owner.key.only_own
        listed = (list_limited_links if only_own else lists.list_links)(owner, options)
        page = pagination_of(listed, parameters)
        return ok({"urls": [representations.listed_link(row) for row in listed.rows], "pagination": page})

    @idempotent
    def create(self, request: Request) -> Response:
        fields = self.read_body()
        with _admit_hashing(request, fields):
            workspace = workspace_of(request)
            link = services.create_link(owner=workspace, creator=account_of(request), **fields)
        domain = representations.link_domain(address_of(link.domain))
        data = {"url": representations.created_link(link), "domain": domain}
        return ok(data, "URL created successfully.", status=201)

    def retrieve(self, request: Request, id: str) -> Response:
        owner = workspace_of(request)
        link = selectors.get_link(owner, id)
        response = ok({"url": representations.whole_link(link, owner, account_of(request))})
        return with_etag(response, link.updated_at)

    def update(self, request: Request, id: str) -> Response:
        changes, versions = self.read_body(), required_versions(request)
        with _admit_hashing(request, changes):
            link = services.update_link(
                owner=workspace_of(request), public_id=id, changes=changes, versions=versions
            )
        shown = representations.updated_link(link, set(request.data))
        return with_etag(ok({"url": shown}, "URL updated successfully."), link.updated_at)

    def destroy(self, request: Request, id: str) -> Response:
        services.delete_link(owner=workspace_of(request), public_id=id)
        return ok(message="URL deleted successfully.")

    @action(detail=False)
    def stats(self, request: Request) -> Response:
        workspace = workspace_of(request)
        overview = selectors.overview(workspace)
        return ok(
            {"stats": representations.overview(overview)},
            totalLinks=overview.links,
            totalClicks=overview.clicks,
            customDomains=count_domains(workspace),
            accountAge=account_age(workspace.created_at, timezone.now()),
            plan=workspace.plan,
        )

    @action(detail=False, url_path="domains/available")
    def available_domains(self, request: Request) -> Response:
        owner = workspace_of(request)
        addresses = [address_of(domain) for domain in usable_domains(owner)]
        if owner.key is None or owner.key.domain_id is None:
            addresses.insert(0, base_address())
        return ok({"domains": [representations.available_domain(address) for address in addresses]})


def _admit_hashing(request: Request, fields: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Limit concurrent password hashing per account. Raises TooManyAtOnce."""
    if fields.get("password") is None:
        return nullcontext()
    return link_hashing.admit(f"account {account_of(request).pk}")
