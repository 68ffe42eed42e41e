from __future__ import annotations

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api_requests.idempotency import idempotent
from accounts.callers import workspace_of
from accounts.rights.roles import Role
from accounts.rights.scopes import Scope
from common.rest.api import ApiViewSet
from common.rest.envelope import ok
from common.rest.pagination import pagination_of
from domains import representations, selectors, services
from domains.schema import describe_domains
from domains.serializers import ClaimSerializer, ListQuery, SettingsSerializer
from domains.services import change_settings


@describe_domains
class DomainViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": ListQuery}
    roles = {
        "list": Role.VIEWER,
        "create": Role.ADMIN,
        "retrieve": Role.VIEWER,
        "partial_update": Role.ADMIN,
        "verify": Role.ADMIN,
        "destroy": Role.ADMIN,
    }
    scopes = {
        "list": Scope.DOMAINS_READ,
        "create": Scope.DOMAINS_WRITE,
        "retrieve": Scope.DOMAINS_READ,
        "partial_update": Scope.DOMAINS_WRITE,
        "verify": Scope.DOMAINS_WRITE,
        "destroy": Scope.DOMAINS_WRITE,
    }
    limited_keys = ("list", "retrieve")
    bodies = {"create": ClaimSerializer, "partial_update": SettingsSerializer}

    def list(self, request: Request) -> Response:
        owner, parameters = workspace_of(request), self.read_query()
        if not parameters:
            return ok({"domains": list(map(representations.listed_domain, selectors.domains_of(owner)))})
        page = selectors.list_domains(owner, **parameters)
        domains = list(map(representations.listed_domain, page.rows))
        return ok({"domains": domains, "pagination": pagination_of(page, parameters)})

    @idempotent
    def create(self, request: Request) -> Response:
        domain = services.claim_domain(owner=workspace_of(request), **self.read_body())
        data = {"domain": representations.whole_domain(domain)}
        return ok(data, "Domain added successfully.", status=201)

    def retrieve(self, request: Request, id: str) -> Response:
        domain = selectors.get_domain(workspace_of(request), id)
        return ok({"domain": representations.domain_with_settings(domain)})

    def partial_update(self, request: Request, id: str) -> Response:
        domain = change_settings(owner=workspace_of(request), public_id=id, changes=self.read_body())
        return ok({"domain": representations.domain_with_settings(domain)}, "Domain updated successfully.")

    @action(detail=True, methods=["post"])
    def verify(self, request: Request, id: str) -> Response:
        domain = services.verify_domain(owner=workspace_of(request), public_id=id)
        return ok({"domain": representations.verified_domain(domain)}, "Domain verified successfully.")

    def destroy(self, request: Request, id: str) -> Response:
        dropped = services.delete_domain(owner=workspace_of(request), public_id=id)
        return ok(message=f"Domain deleted successfully.{_dropped(dropped)}")


def _dropped(codes: int) -> str:
    if codes == 0:
        return ""
    were = "1 custom code was" if codes == 1 else f"{codes} custom codes were"
    return f" {were} already taken on the default domain and dropped."
