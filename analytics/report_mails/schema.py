"""The OpenAPI description of /api/analytics/report-mails, and what it returns."""

from __future__ import annotations

from accounts.mails import NoMail
from analytics.report_mails.due import FACTOR, LEAST_USUAL, USUAL_WEEKS
from common.openapi.operations import Operation, describe
from common.openapi.responses import Representation, flag

report_mails = Representation(
    "ReportMails",
    flag("weekly", "weekly", True),
    flag("monthly", "monthly", False),
    flag("alerts", "alerts", True),
    flag("isAvailable", None, True, "Whether the service sends mails at all: its operator sets EMAIL_URL."),
)
describe_report_mails = describe(
    "Analytics",
    retrieve=Operation(
        "getReportMails",
        "Read which reports of the workspace you get by mail.",
        "Your choice.",
        description="Every member chooses for themselves.",
    ),
    update=Operation(
        "updateReportMails",
        "Choose which reports of the workspace you get by mail.",
        "Your choice.",
        description="Fields that are not sent keep their values. Mails are in the language of the account; each has"
        f" a link that ends them. An alert tells of a day (UTC) with {FACTOR} times the usual clicks so far, or of a"
        f" past day with at most 1/{FACTOR} of them. Usual is the median of the same day in the last {USUAL_WEEKS}"
        f" weeks, at least {LEAST_USUAL}; each is sent at most once a day.",
        examples=[{"weekly": False, "alerts": False}],
        errors=[NoMail()],
    ),
)
