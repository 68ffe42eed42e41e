from __future__ import annotations

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import account_of
from accounts.idempotency import idempotent
from common.api import ApiViewSet
from common.envelope import ok
from domains import representations, selectors, services
from domains.schema import describe_domains
from domains.serializers import ClaimSerializer, SettingsSerializer
from domains.visitors import change_settings


@describe_domains
class DomainViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"

    def list(self, request: Request) -> Response:
        found = selectors.domains_of(account_of(request))
        return ok({"domains": [representations.listed_domain(domain) for domain in found]})

    @idempotent
    def create(self, request: Request) -> Response:
        body = ClaimSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        domain = services.claim_domain(owner=account_of(request), **body.validated_data)
        data = {"domain": representations.whole_domain(domain)}
        return ok(data, "Domain added successfully.", status=201)

    def retrieve(self, request: Request, id: str) -> Response:
        domain = selectors.get_domain(account_of(request), id)
        return ok({"domain": representations.domain_with_settings(domain)})

    def partial_update(self, request: Request, id: str) -> Response:
        body = SettingsSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        domain = change_settings(owner=account_of(request), public_id=id, changes=body.validated_data)
        return ok({"domain": representations.domain_with_settings(domain)}, "Domain updated successfully.")

    @action(detail=True, methods=["post"])
    def verify(self, request: Request, id: str) -> Response:
        domain = services.verify_domain(owner=account_of(request), public_id=id)
        return ok({"domain": representations.verified_domain(domain)}, "Domain verified successfully.")

    def destroy(self, request: Request, id: str) -> Response:
        dropped = services.delete_domain(owner=account_of(request), public_id=id)
        return ok(message=f"Domain deleted successfully.{_dropped(dropped)}")


def _dropped(codes: int) -> str:
    if codes == 0:
        return ""
    were = "1 custom code was" if codes == 1 else f"{codes} custom codes were"
    return f" {were} taken on the default domain already, and dropped."
