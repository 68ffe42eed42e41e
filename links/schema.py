"""The OpenAPI description of the endpoints under /api/urls, and rules of fields that it cannot derive."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiParameter, extend_schema_field
from rest_framework.fields import ChoiceField

from accounts import admission
from accounts.history import BAD_CURSOR
from accounts.models import Change, User
from accounts.rights import Plan
from common.errors import Conflict, InvalidFields, NotFound
from common.http.current_request import AuthMethod
from common.openapi.document import NextOperations
from common.openapi.error_examples import invalid, invalid_destination
from common.openapi.operations import Operation, annotate, describe, name_choices
from common.openapi.responses import choice, count, example, pagination_representation, text
from common.rest.pagination import TOO_DEEP
from common.rest.returns import BadIfMatch
from domains.addresses import NO_DESTINATION
from links.availability import Status
from links.code_checks import Unavailable
from links.code_claims import HOLD_DAYS
from links.codes import PATTERN, code_pattern
from links.errors import (
    VALUES_TAKEN,
    ChangedMeanwhile,
    CodeTaken,
    DomainNotActive,
    LinkExists,
    NotRestorable,
    domain_not_found,
)
from links.existing import NOT_COMPARABLE
from links.fields import Device, RedirectType
from links.grouped_counts import TOO_MANY
from links.guess_counts import too_many_guesses
from links.list_counts import COUNT_LIMIT
from links.models import MAX_CODE, Link
from links.representations import REPORT_PARAMETERS, WHOLE_URL
from links.routing.schema import BAD_ROUTES, ROUTING_NOTES
from links.saved_views import MAX_VIEWS, TooManyViews, ViewExists
from links.serializer_fields import (
    MAX_TAG,
    AccountIdField,
    ArchivedField,
    CodeField,
    CountryField,
    CurrentOrNewCodeField,
    DeviceField,
    RedirectTypeField,
    StatusesField,
    TagField,
    TagsField,
)
from links.serializers import (
    NO_CONTENT,
    CreateLinkSerializer,
    DuplicateLinkSerializer,
    UpdateLinkSerializer,
    UpsertLinkSerializer,
)
from links.storage.deletion import UNDELETE_DAYS
from links.storage.quotas import QuotaExceeded

extend_schema_field({"type": "string", "maxLength": 50, "pattern": f"^{code_pattern().pattern}$"})(CodeField)
extend_schema_field({"type": "string", "maxLength": MAX_CODE, "pattern": f"^{PATTERN}$"})(
    CurrentOrNewCodeField
)
extend_schema_field({"type": "string", "pattern": "^[A-Za-z]{2}$"})(CountryField)
name_choices("DeviceType", Device.values)
name_choices("RedirectType", RedirectType.values)
name_choices("UrlStatus", list(Status))
name_choices("UnavailableCode", Unavailable.values)
_SOME_TAG = f"[^,]{{0,{MAX_TAG}}}"
# Of one character or more, because drf-spectacular adds the empty text as another choice.
extend_schema_field({"type": "string", "minLength": 1, "pattern": f"^{_SOME_TAG}(,{_SOME_TAG})*$"})(TagsField)
_STATUS = "|".join(Status)
extend_schema_field({"type": "string", "pattern": f"^ *({_STATUS})( *, *({_STATUS}))* *$"})(StatusesField)
extend_schema_field({"type": "string", "pattern": f"^({'|'.join(ArchivedField.values)})$"})(ArchivedField)
extend_schema_field(ChoiceField(Device.values))(DeviceField)
extend_schema_field(ChoiceField(RedirectType.values))(RedirectTypeField)


class _ChosenParameterExtension(OpenApiSerializerFieldExtension):
    target_class = "links.serializers.ChosenParameter"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({'|'.join(self.target.choices)})$"}


# drf-spectacular derives the minimum length from ``allow_blank``.
for _serializer in (CreateLinkSerializer, DuplicateLinkSerializer, UpsertLinkSerializer):
    annotate(
        _serializer,
        {
            "customCode": {"minLength": 3},
            "redirectType": {"default": int(RedirectType.FOUND)},
            **ROUTING_NOTES,
        },
    )
annotate(UpdateLinkSerializer, {"customCode": {"minLength": 1}, **ROUTING_NOTES})

BAD_FIELDS = (
    *(
        invalid(f"restrictions.{name}.0", "country", str(CountryField.default_error_messages["country"]))
        for name in ("allowedCountries", "blockedCountries")
    ),
    invalid("tags.0", "blank_tag", str(TagField.default_error_messages["blank_tag"])),
    *BAD_ROUTES,
)
BAD_STATUS = invalid("status", "status", str(StatusesField.default_error_messages["status"]))
BAD_ARCHIVED = invalid("archived", "archived", str(ArchivedField.default_error_messages["archived"]))
_NO_ACCOUNT = str(AccountIdField.default_error_messages["id"])
BAD_CREATOR = invalid("creator", "id", _NO_ACCOUNT)
_BAD_FILTERS = (invalid("filters.creator", "id", _NO_ACCOUNT), invalid_destination("filters.destination"))
BAD_TAGS = invalid("tags", "tag", str(TagsField.default_error_messages["tag"]))
# Of every operation that takes the filters of the list of links.
FILTER_ERRORS = (
    BAD_TAGS,
    BAD_STATUS,
    BAD_ARCHIVED,
    BAD_CREATOR,
    invalid_destination("destination"),
    domain_not_found(),
)


_NEXT_OPERATIONS = NextOperations(
    "/data/url/_id",
    {
        **dict.fromkeys(("getUrl", "updateUrl", "deleteUrl"), "id"),
        **dict.fromkeys(
            ("getAnalytics", "getDevices", "getGeographic", "listClicks", "listQrCodes"), "urlId"
        ),
    },
    {"createQrCode": "urlId"},
)

_TAKEN = (
    CodeTaken("spring"),
    Conflict("The code admin is reserved.", code="code_reserved"),
    *VALUES_TAKEN,
)
_BAD_NEW_LINK = (
    invalid_destination("originalUrl"),
    *(invalid("originalUrl", code, message) for code, message in NO_DESTINATION.items()),
    *BAD_FIELDS,
    domain_not_found(),
    DomainNotActive("go.example.com"),
    *_TAKEN,
    QuotaExceeded(604_800, limit=1_000, window=2_592_000),
    admission.TOO_MANY_CALLS,
)
_EXAMPLE_LINK = Link(
    # Otherwise each process would describe another one.
    public_id=UUID("019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    updated_at=datetime(2030, 3, 2, 17, 5, 41, 654321, tzinfo=UTC),
)
_EXAMPLE_CHANGE = Change(
    changed_at=_EXAMPLE_LINK.updated_at,
    via=AuthMethod.TOKEN,
    actor=User(
        first_name="Ada", last_name="Lovelace", public_id=UUID("019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60")
    ),
)
PAGINATION = pagination_representation(
    "Pagination",
    f"True if more than {COUNT_LIMIT} match, and the rest was not counted. `pages` then grows with `page`, up to the"
    " last page.",
)


# Beside the statistics.
FIGURES = (
    count("totalLinks", example=1),
    count("totalClicks"),
    count("customDomains"),
    text("accountAge", None, "12 days", "`today`, `1 day`, `3 months`, `2 years` and so on."),
    choice("plan", None, Plan.values, "pro"),
)


def _example(names: str) -> dict[str, Any]:
    return example(WHOLE_URL.pick("", names).fields)


def _update(operation_id: str, description: str) -> Operation:
    return Operation(
        operation_id,
        "Change the sent fields: all of them, or none.",
        "The title, the tags, `isActive`, and the sent fields.",
        description=description,
        examples=[_example("title tags isActive")],
        errors=[
            *(invalid(name, "immutable", "Cannot be changed.") for name in ("originalUrl", "shortCode")),
            *BAD_FIELDS,
            *_TAKEN,
            BadIfMatch(),
            ChangedMeanwhile(_EXAMPLE_LINK, _EXAMPLE_CHANGE),
            admission.TOO_MANY_CALLS,
        ],
    )


describe_links = describe(
    "Links",
    of="URL",
    create=Operation(
        "createUrl",
        "Create a short link.",
        "The new link, which works already.",
        description="Only `originalUrl` is required. The service generates a `shortCode`; a `customCode` replaces it"
        " in the `shortUrl`. With `findIfExists`, a link on the same domain that leads to the same URL and has all"
        " given values is returned instead: an active one before others, then the oldest. Of parallel such calls, one"
        " creates the link. A key needs `urls:read` for it, too.",
        also={200: "With `findIfExists`: the link that exists already."},
        examples=[
            {"originalUrl": "https://example.com/"},
            {
                **_example("originalUrl title tags utm"),
                "restrictions": {"maxClicks": 1000},
                "redirectType": 301,
            },
            {**_example("originalUrl"), "findIfExists": True},
        ],
        errors=[
            invalid("originalUrl"),
            InvalidFields([NOT_COMPARABLE]),
            *_BAD_NEW_LINK,
        ],
        next_operations=_NEXT_OPERATIONS,
    ),
    duplicate=Operation(
        "duplicateUrl",
        "Create a copy of a short link.",
        "The new link, which works already.",
        description="It has the settings of the link, its tags and password, but another code and no clicks,"
        " `customCode` and `externalId`. Sent fields replace those of the link; with another `originalUrl`, the copy"
        " has no `targetUrl` unless it is sent. The rules are those of a creation. A key needs `urls:read`, too.",
        examples=[{}, {"title": "Spring sale in May"}],
        errors=[invalid("originalUrl"), *_BAD_NEW_LINK],
        next_operations=_NEXT_OPERATIONS,
    ),
    list=Operation(
        "listUrls",
        "List your short links page by page.",
        "One page; empty past the last page.",
        description="Newest first, unless `sortBy` and `sortOrder` say otherwise. Filters combine: a link must match"
        " all of them.",
        errors=[
            invalid("page", "too_deep", TOO_DEEP),
            *FILTER_ERRORS,
        ],
    ),
    count=Operation(
        "countUrls",
        "Count your short links, or those that match the filters.",
        "Their number, and with `groupBy` the largest groups.",
        description="The filters are those of the list. A link with several tags is in several groups, and one without"
        f" tags in none. With a filter, or by status, at most {COUNT_LIMIT:,} links can be grouped.",
        component="UrlCount",
        errors=[
            *FILTER_ERRORS,
            InvalidFields([TOO_MANY]),
        ],
    ),
    retrieve=Operation(
        "getUrl",
        "Read a short link with all its fields.",
        "The link.",
        description="All fields except the password; `hasPassword` says whether there is one. Send the `ETag` as"
        " `If-Match` with an update to change only what you have read.",
    ),
    update=_update(
        "updateUrl",
        "You can send back a whole link. Read-only fields are ignored, except that a different `originalUrl` or"
        " `shortCode` is an error.",
    ),
    partial_update=_update(
        "patchUrl", "The same as PUT, which also leaves fields that are not sent as they are."
    ),
    destroy=Operation(
        "deleteUrl",
        "Delete a short link.",
        "The link is deleted.",
        description=f"For {HOLD_DAYS} days, only its owner can use its codes again. For {UNDELETE_DAYS} days, the"
        " link can be restored.",
        errors=[BadIfMatch(), ChangedMeanwhile(_EXAMPLE_LINK, _EXAMPLE_CHANGE)],
    ),
    upsert=Operation(
        "upsertUrl",
        "Create the link with an `externalId`, or change it.",
        "The link with all its fields, if the key may read links.",
        description="Of a link that exists, the sent fields change; another `originalUrl` becomes its `targetUrl`."
        " Parallel calls make one link.",
        examples=[{**_example("originalUrl title tags"), "externalId": "order-1815"}],
        errors=[
            invalid("originalUrl"),
            invalid("externalId"),
            *_BAD_NEW_LINK,
            invalid("domainId", "immutable", "Cannot be changed."),
            BadIfMatch(),
            ChangedMeanwhile(_EXAMPLE_LINK, _EXAMPLE_CHANGE),
            LinkExists(_EXAMPLE_LINK),
        ],
        parameters=[
            OpenApiParameter(
                "If-None-Match",
                str,
                OpenApiParameter.HEADER,
                description="`*`: only create a link, or get 412.",
            )
        ],
    ),
    stats=Operation(
        "getUrlStats",
        "Read the statistics of all your short links.",
        "The totals and the most clicked links.",
        description="The totals cover all links of the account, whatever their domain.",
        component="UrlStats",
    ),
    available_domains=Operation(
        "listAvailableDomains",
        "List the domains on which you can create short links.",
        "The default domain first.",
        description="The default domain and your active domains. The `id` of one is the `domainId` of a new link.",
        component="AvailableDomains",
    ),
)

describe_look_ups = describe(
    "Links",
    exists=Operation(
        "checkCode",
        "Read whether a link could get a code.",
        "Whether it is available, and codes like it if it is not.",
        description="Nobody reserves the code by asking: only the creation decides. Codes of others count towards the"
        " limit of unknown codes.",
        component="CodeCheck",
        errors=[domain_not_found(), DomainNotActive("go.example.com"), too_many_guesses(30)],
    ),
    resolve=Operation(
        "resolveUrl",
        "Read the link of a short URL.",
        "The link with all its fields.",
        description="Also by its former codes. A link of somebody else is not found.",
        errors=[NotFound("URL not found.")],
    ),
)

describe_history = describe(
    "History",
    of="URL",
    history=Operation(
        "listUrlChanges",
        "List the changes of a short link, newest first.",
        "One page; more pages follow as long as `nextCursor` is not null.",
        description="Also for a deleted link. The creation of a link is not recorded. A password appears as `set` or"
        " `removed`. Changes older than the retention period are deleted.",
        errors=[InvalidFields([BAD_CURSOR])],
    ),
    deleted=Operation(
        "listDeletedUrls",
        "List the deleted short links that can be brought back.",
        "One page, the link that was deleted last first; empty past the last page.",
        description=f"The links deleted within the last {UNDELETE_DAYS} days. `undelete` restores one, with the"
        " `shortUrl` that the list shows, unless its code has been given to another link.",
        errors=[invalid("page", "too_deep", TOO_DEEP)],
    ),
    undelete=Operation(
        "undeleteUrl",
        "Bring a deleted short link back.",
        "The link as it was, with its codes, clicks, reports and QR codes.",
        description=f"Within {UNDELETE_DAYS} days of the deletion. If its domain has been deleted or moved since, the"
        " link moves to the default domain, and loses a custom code that is taken there.",
        errors=[CodeTaken("spring"), *VALUES_TAKEN],
    ),
    restore=Operation(
        "restoreUrlChange",
        "Set the fields of a change to their former values.",
        "The title, the tags, `isActive`, and the restored fields.",
        description="An update with the `before` of the change, which the history records as a new change. Other"
        " fields keep their values. A former password and a domain cannot be restored; `warnings` names them.",
        parameters=[
            OpenApiParameter(
                "changeId", str, OpenApiParameter.PATH, description="The `_id` of a change of the URL."
            )
        ],
        errors=[
            NotFound("Change not found."),
            NotRestorable(),
            CodeTaken("spring"),
            *VALUES_TAKEN,
            *BAD_FIELDS,
        ],
    ),
)

_VIEW = {"name": "Spring campaign", "filters": {"tags": "spring", "sortBy": "clickCount"}}
_CAMPAIGN = {
    "name": "Spring in Germany",
    "report": {"tags": "spring", "country": "DE", "period": "90d"},
}
_BAD_REPORTS = [
    invalid(f"report.{name}", "invalid_report", "What `GET /api/analytics` says about the parameter.")
    for name in REPORT_PARAMETERS
]
describe_views = describe(
    "Links",
    of="view",
    list=Operation(
        "listViews",
        "List the saved views of links and of reports, by name.",
        "All of them.",
        description="All members of the workspace see them.",
        component="Views",
    ),
    retrieve=Operation("getView", "Read a saved view.", "The view.", description="Its name and its filters."),
    create=Operation(
        "createView",
        "Save filters and an order of the list of links, or a report as a campaign.",
        "The new view.",
        description=f"A workspace has at most {MAX_VIEWS} views.",
        examples=[_VIEW, _CAMPAIGN],
        errors=[
            *_BAD_FILTERS,
            *_BAD_REPORTS,
            invalid("filters", "one_of", NO_CONTENT),
            ViewExists(),
            TooManyViews(),
        ],
    ),
    partial_update=Operation(
        "updateView",
        "Rename a view, or replace its filters or its report.",
        "The view.",
        description="Fields that are not sent keep their values. `filters` and `report` are replaced as a whole."
        " To change `report`, a key needs `analytics:read`, too.",
        examples=[{"name": "Summer campaign"}],
        errors=[*_BAD_FILTERS, *_BAD_REPORTS, ViewExists()],
    ),
    destroy=Operation(
        "deleteView", "Delete a view.", "The view is deleted.", description="Its links stay as they are."
    ),
)
