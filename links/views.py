from __future__ import annotations

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.age import account_age
from accounts.authentication import account_of
from accounts.idempotency import idempotent
from common.api import ApiViewSet
from common.envelope import ok
from common.pagination import pagination
from domains.addresses import address_of, base_address
from domains.selectors import count_domains, usable_domains
from links import lists, representations, selectors, services
from links.schema import describe_links
from links.serializers import CreateLinkSerializer, ListQuery, UpdateLinkSerializer


@describe_links
class LinkViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"

    def list(self, request: Request) -> Response:
        query = ListQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        found = lists.list_links(account_of(request), **query.validated_data)
        asked = query.validated_data
        page = pagination(asked["page"], asked["limit"], found.total, is_capped=found.total_is_capped)
        return ok({"urls": [representations.listed_link(row) for row in found.rows], "pagination": page})

    @idempotent
    def create(self, request: Request) -> Response:
        body = CreateLinkSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        link = services.create_link(owner=account_of(request), **body.validated_data)
        address = address_of(link.domain)
        domain = {"id": address.id, "fullDomain": address.full_domain, "shortUrl": address.short_url}
        data = {"url": representations.created_link(link), "domain": domain}
        return ok(data, "URL created successfully.", status=201)

    def retrieve(self, request: Request, id: str) -> Response:
        link = selectors.get_link(account_of(request), id)
        return ok({"url": representations.whole_link(link, account_of(request))})

    def update(self, request: Request, id: str) -> Response:
        body = UpdateLinkSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        link = services.update_link(owner=account_of(request), public_id=id, changes=body.validated_data)
        return ok({"url": representations.updated_link(link, set(request.data))}, "URL updated successfully.")

    def destroy(self, request: Request, id: str) -> Response:
        services.delete_link(owner=account_of(request), public_id=id)
        return ok(message="URL deleted successfully.")

    @action(detail=False)
    def stats(self, request: Request) -> Response:
        user = account_of(request)
        found = selectors.overview(user)
        return ok(
            {"stats": representations.overview(found)},
            totalLinks=found.links,
            totalClicks=found.clicks,
            customDomains=count_domains(user),
            accountAge=account_age(user.created_at, timezone.now()),
            plan=user.plan,
        )

    @action(detail=False, url_path="domains/available")
    def available_domains(self, request: Request) -> Response:
        addresses = [base_address(), *(address_of(domain) for domain in usable_domains(account_of(request)))]
        return ok({"domains": [representations.available_domain(address) for address in addresses]})
