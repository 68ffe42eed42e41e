from __future__ import annotations

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.api_requests.idempotency import idempotent
from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.pagination import pagination_of
from common.rest.returns import returns
from domains import representations, selectors, services
from domains.models import Domain
from domains.schema import PAGINATION, describe_domains
from domains.serializers import ClaimSerializer, ListQuery, SettingsSerializer
from domains.services import change_settings


def _deleted(dropped: int) -> str:
    deleted = "Domain deleted successfully."
    if dropped == 0:
        return deleted
    were = "1 custom code was" if dropped == 1 else f"{dropped} custom codes were"
    return f"{deleted} {were} already taken on the default domain and dropped."


@describe_domains
class DomainViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": ListQuery}
    access = {
        "list": Access(Role.VIEWER, Scope.DOMAINS_READ, limited=True),
        "create": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
        "retrieve": Access(Role.VIEWER, Scope.DOMAINS_READ, limited=True),
        "partial_update": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
        "verify": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
        "destroy": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
    }
    bodies = {"create": ClaimSerializer, "partial_update": SettingsSerializer}

    @returns(200, domains=[representations.listed_domain], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        owner, parameters = workspace_of(request), self.read_query()
        if not parameters:
            return {"domains": list(map(representations.listed_domain, Domain.objects.visible_to(owner)))}
        page = selectors.list_domains(owner, **parameters)
        domains = list(map(representations.listed_domain, page.rows))
        return {"domains": domains, "pagination": pagination_of(page, parameters)}

    @idempotent
    @returns(201, "Domain added successfully.", domain=representations.whole_domain)
    def create(self, request: Request) -> dict[str, Any]:
        domain = services.claim_domain(owner=workspace_of(request), **self.read_body())
        return {"domain": representations.whole_domain(domain)}

    @returns(200, domain=representations.domain_with_settings)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        domain = selectors.get_domain(workspace_of(request), id)
        return {"domain": representations.domain_with_settings(domain)}

    @returns(200, "Domain updated successfully.", domain=representations.domain_with_settings)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        domain = change_settings(owner=workspace_of(request), public_id=id, changes=self.read_body())
        return {"domain": representations.domain_with_settings(domain)}

    @action(detail=True, methods=["post"])
    @returns(200, "Domain verified successfully.", domain=representations.verified_domain)
    def verify(self, request: Request, id: str) -> dict[str, Any]:
        domain = services.verify_domain(owner=workspace_of(request), public_id=id)
        return {"domain": representations.verified_domain(domain)}

    @returns(200, _deleted(2))
    def destroy(self, request: Request, id: str) -> dict[str, Any]:
        dropped = services.delete_domain(owner=workspace_of(request), public_id=id)
        return {"message": _deleted(dropped)}
