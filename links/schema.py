"""The OpenAPI description of the endpoints under /api/urls."""

from __future__ import annotations

from functools import partial

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest, extend_schema_view
from rest_framework.fields import BooleanField, CharField, ChoiceField, IntegerField, ListField

from accounts import idempotency
from accounts.plans import Plan
from common.errors import Conflict, NotFound
from common.fields import DateTime
from common.pagination import TOO_DEEP
from common.schema import (
    BAD_BODIES,
    NO_CREDENTIAL,
    Part,
    Parts,
    answer,
    component,
    example,
    invalid,
    invalid_destination,
    nested,
    nested_list,
    operation,
    pick,
)
from common.schema_hooks import Following
from domains.addresses import BASE_ID, NO_DESTINATION
from domains.models import DomainStatus
from links.models import Device, RedirectType
from links.namespace import HOLD_DAYS
from links.quotas import QuotaExceeded
from links.schema_notes import BAD_FIELDS, BAD_TAGS
from links.searches import COUNT_LIMIT
from links.serializers import CreateLinkSerializer, ListQuery, UpdateLinkSerializer
from links.utm import UTM_KEYS

_operation = partial(operation, tag="Links")

_UTM: Parts = {
    key: Part(CharField(required=False), value)
    for key, value in zip(UTM_KEYS, ("newsletter", "email", "spring", "shoes", "header"), strict=True)
}
_RESTRICTIONS: Parts = {
    "maxClicks": Part(IntegerField(required=False, min_value=1), 1000),
    "allowedCountries": Part(ListField(child=CharField(), required=False), ["DE", "FR"]),
    "blockedCountries": Part(ListField(child=CharField(), required=False), ["AQ"]),
    "allowedDevices": Part(ListField(child=ChoiceField(Device.values), required=False), ["mobile"]),
}
_Utm = component("Utm", _UTM)
_Restrictions = component("Restrictions", _RESTRICTIONS)


def _changeable(*, required: bool) -> Parts:
    return {
        "customCode": Part(CharField(allow_null=True, required=required), "spring"),
        "description": Part(CharField(allow_null=True, required=required), None),
        "expiresAt": Part(DateTime(allow_null=True, required=required), "2030-06-01T00:00:00Z"),
        "hasPassword": Part(BooleanField(required=required), False),
        "utm": Part(_Utm(required=required), example(_UTM)),
        "restrictions": Part(_Restrictions(required=required), example(_RESTRICTIONS)),
        "redirectType": Part(ChoiceField(RedirectType.values, required=required), 302),
    }


_COUNT = IntegerField(min_value=0)
_CREATOR: Parts = {
    "_id": Part(CharField(label="_id"), "019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60"),
    "firstName": Part(CharField(), "Ada"),
    "lastName": Part(CharField(), "Lovelace"),
    "email": Part(CharField(), "ada@example.com"),
}
_URL: Parts = {
    "_id": Part(CharField(label="_id"), "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    "originalUrl": Part(CharField(help_text="As it was sent."), "https://example.com/spring?ref=mail"),
    "shortCode": Part(CharField(), "k3TzP9q"),
    "shortUrl": Part(CharField(help_text="The complete short link."), "https://go.example.com/spring"),
    "title": Part(CharField(allow_null=True), "Spring sale"),
    "tags": Part(ListField(child=CharField()), ["sale", "mail"]),
    "clickCount": Part(_COUNT, 0),
    "isActive": Part(BooleanField(), True),
    **_changeable(required=True),
    "importedClicks": Part(
        IntegerField(
            required=False, min_value=1, help_text="How many of them came with an import: no report has them."
        )
    ),
    "domainId": Part(CharField(help_text=f"`{BASE_ID}` is the default domain."), BASE_ID),
    "creator": nested("Creator", _CREATOR),
    "createdAt": Part(DateTime(), "2030-03-01T09:30:00.123456Z"),
    "updatedAt": Part(DateTime(), "2030-03-02T17:05:41.654321Z"),
}
_NEW = "_id originalUrl shortCode customCode shortUrl title tags clickCount isActive createdAt"
_LISTED = "_id originalUrl shortCode shortUrl title clickCount isActive createdAt"
_TOP = "_id originalUrl shortCode shortUrl title clickCount createdAt"
_UPDATED = pick(_URL, "_id shortUrl title tags isActive updatedAt")

_ADDRESS: Parts = {
    "id": Part(CharField(help_text=f"`{BASE_ID}` is the default domain."), BASE_ID),
    "fullDomain": Part(CharField(), "go.example.com"),
    "shortUrl": Part(CharField(help_text="With `/` and a code, it is a link."), "https://go.example.com"),
}
_AVAILABLE: Parts = {
    **_ADDRESS,
    "domain": Part(CharField(), "go.example.com"),
    "subdomain": Part(CharField(allow_null=True), None),
    "isDefault": Part(BooleanField(), True),
    "status": Part(ChoiceField(DomainStatus.values), "active"),
    "isSystemDomain": Part(BooleanField(), True),
}
_PAGINATION: Parts = {
    "page": Part(IntegerField(min_value=1), 1),
    "limit": Part(IntegerField(min_value=1), 20),
    "total": Part(_COUNT, 1),
    "pages": Part(_COUNT, 1),
    "totalIsCapped": Part(
        BooleanField(required=False, help_text=f"True when more than {COUNT_LIMIT} match; total ends there.")
    ),
}
_STATS: Parts = {
    "totalUrls": Part(_COUNT, 1),
    "activeUrls": Part(_COUNT, 1),
    "totalClicks": Part(_COUNT, 0),
    "topUrls": nested_list("TopUrl", pick(_URL, _TOP)),
}
_BESIDE_STATS: Parts = {
    "totalLinks": Part(_COUNT, 1),
    "totalClicks": Part(_COUNT, 0),
    "customDomains": Part(_COUNT, 0),
    "accountAge": Part(CharField(help_text="`today`, `1 day`, `3 months`, `2 years` and so on."), "12 days"),
    "plan": Part(ChoiceField(Plan.values), "pro"),
}

NEW_URL = nested("NewUrl", pick(_URL, _NEW))
UPDATED_URL = nested("UpdatedUrl", {**_UPDATED, **_changeable(required=False)})
URL_ID = pick(_URL, "_id")

_FOLLOWING = Following(
    "/data/url/_id",
    {
        **dict.fromkeys(("getUrl", "updateUrl", "deleteUrl"), "id"),
        **dict.fromkeys(
            ("getAnalytics", "getDevices", "getGeographic", "listClicks", "listQrCodes"), "urlId"
        ),
    },
    {"createQrCode": "urlId"},
)

_BY_ID = OpenApiParameter("id", str, OpenApiParameter.PATH, description="The `_id` of the URL.")
_NO_URL = NotFound("URL not found.")
_TAKEN = (
    Conflict("The code spring is already in use.", code="code_taken"),
    Conflict("The code admin is reserved.", code="code_reserved"),
)


def _body(serializer: type[CreateLinkSerializer | UpdateLinkSerializer], names: str) -> OpenApiRequest:
    return OpenApiRequest(serializer, examples=[OpenApiExample("Example", example(pick(_URL, names)))])


describe_links = extend_schema_view(
    create=_operation(
        "createUrl",
        "Create a short link.",
        answer(
            "CreateUrl",
            "The new link; it works already.",
            "URL created successfully.",
            data={"url": NEW_URL, "domain": nested("LinkDomain", _ADDRESS)},
        ),
        [
            invalid("originalUrl"),
            invalid_destination("originalUrl"),
            *(invalid("originalUrl", code, message) for code, message in NO_DESTINATION.items()),
            *BAD_FIELDS,
            *BAD_BODIES,
            NO_CREDENTIAL,
            NotFound("Domain not found."),
            *_TAKEN,
            QuotaExceeded(604_800, limit=1_000, window=2_592_000),
            *idempotency.REFUSALS,
        ],
        status=201,
        is_idempotent=True,
        body=_body(CreateLinkSerializer, "originalUrl customCode title tags expiresAt utm restrictions"),
        leads_to=_FOLLOWING,
    ),
    list=_operation(
        "listUrls",
        "List one's short links, page by page.",
        answer(
            "ListUrls",
            "One page; beyond the last one, an empty one.",
            data={
                "urls": nested_list("ListedUrl", pick(_URL, _LISTED)),
                "pagination": nested("Pagination", _PAGINATION),
            },
        ),
        [invalid("page", "too_deep", TOO_DEEP), BAD_TAGS, NO_CREDENTIAL],
        parameters=[ListQuery],
    ),
    retrieve=_operation(
        "getUrl",
        "Read a short link with all its fields.",
        answer("GetUrl", "The link.", data={"url": nested("Url", _URL)}),
        [NO_CREDENTIAL, _NO_URL],
        parameters=[_BY_ID],
    ),
    update=_operation(
        "updateUrl",
        "Change the fields that are sent, all or none of them.",
        answer(
            "UpdateUrl",
            "The title, the tags, whether the link works, and the fields that were sent.",
            "URL updated successfully.",
            data={"url": UPDATED_URL},
        ),
        [
            *(invalid(name, "immutable", "Cannot be changed.") for name in ("originalUrl", "shortCode")),
            *BAD_FIELDS,
            *BAD_BODIES,
            NO_CREDENTIAL,
            _NO_URL,
            *_TAKEN,
        ],
        parameters=[_BY_ID],
        description="A whole link may be sent back: what cannot be changed is ignored, unless it is the "
        "`originalUrl` or the `shortCode` and differs.",
        body=_body(UpdateLinkSerializer, "customCode title tags isActive expiresAt"),
    ),
    destroy=_operation(
        "deleteUrl",
        "Delete a short link.",
        answer("DeleteUrl", "The link is gone.", "URL deleted successfully."),
        [*BAD_BODIES, NO_CREDENTIAL, _NO_URL],
        parameters=[_BY_ID],
        description=f"Its codes are held back for {HOLD_DAYS} days, for nobody but its owner to take again.",
    ),
    stats=_operation(
        "getUrlStats",
        "Read the statistics over all of one's short links.",
        answer(
            "UrlStats",
            "The totals, and the most clicked links.",
            data={"stats": nested("Stats", _STATS)},
            beside=_BESIDE_STATS,
        ),
        [NO_CREDENTIAL],
    ),
    available_domains=_operation(
        "listAvailableDomains",
        "List the domains that a short link can be put on.",
        answer(
            "AvailableDomains",
            "The default domain first.",
            data={"domains": nested_list("AvailableDomain", _AVAILABLE)},
        ),
        [NO_CREDENTIAL],
    ),
)
