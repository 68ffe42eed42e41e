"""The OpenAPI description of the endpoints under /api/analytics/shares."""

from __future__ import annotations

from analytics.reports.periods import PERIODS
from analytics.shares.representations import STATUSES
from analytics.shares.services import ENDED_DAYS, MAX_SHARES, TooManyShares
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.rest.fields import PublicIdField
from links.routing.conditions import ZoneNameField
from links.saved_views import view_not_found

name_choices("ReportPeriod", PERIODS)
name_choices("ShareStatus", STATUSES)
_BAD = [
    invalid("viewId", "one_of", "Send either viewId or urlId."),
    invalid("viewId", "invalid_report", "The report of the view is not valid: country."),
]
_BAD_SETTINGS = [
    *(invalid(name, "id", str(PublicIdField.default_error_messages["id"])) for name in ("viewId", "urlId")),
    invalid("expiresAt", "past", "Must be in the future."),
    invalid("timezone", "zone", str(ZoneNameField.default_error_messages["zone"])),
]

describe_shares = describe(
    "Analytics",
    of="share",
    list=Operation(
        "listShares",
        "List the shared reports of the workspace, the newest first.",
        "All of them.",
        description="A key that is limited to some of the links lists the shares of these links only.",
        component="Shares",
    ),
    retrieve=Operation(
        "getShare", "Read a shared report's settings.", "The share.", description="Without its address."
    ),
    create=Operation(
        "createShare",
        "Share the report of a view or of a link on a page for anybody.",
        "The share with the address of its page, which is shown once.",
        description="The page needs no account and sets no cookies. It always shows the view or the link as it is"
        " then, and nothing else: no parameter changes its links, filters or period. Once the share has expired or is"
        " deleted, and while its view or link is gone or banned, the page answers 410. A workspace has at most"
        f" {MAX_SHARES} shares.",
        examples=[
            {"urlId": "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75", "period": "30d", "password": "open sesame"}
        ],
        placeholders={"urlId": "the `_id` of one of your links"},
        errors=[*_BAD, *_BAD_SETTINGS, view_not_found(), TooManyShares()],
    ),
    partial_update=Operation(
        "updateShare",
        "Change the period, password, end or indexing of a shared report.",
        "The share.",
        description="Fields that are not sent keep their values. The address stays the same.",
        examples=[{"period": "90d", "password": None}],
        errors=[
            *_BAD_SETTINGS,
            *(invalid(name, "immutable", "Cannot be changed.") for name in ("viewId", "urlId")),
        ],
    ),
    destroy=Operation(
        "deleteShare",
        "Revoke a shared report.",
        "The share is deleted.",
        description=f"At once. For {ENDED_DAYS} days, its address answers 410, and then 404.",
    ),
)
