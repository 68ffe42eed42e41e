from __future__ import annotations

from analytics.reports.periods import PERIODS
from analytics.shares.report import name_of
from common.openapi.responses import Representation, choice, flag, moment, public_id, text

_TOKEN = "Zp0v2mD3kq7XwT1sB9aLeRyU4hGcJfNo"  # noqa: S105 # an example
STATUSES = ("active", "expired", "unavailable")
_status = choice(
    "status",
    "status",
    STATUSES,
    "active",
    "`unavailable`: the view or the link is deleted, moved or banned, or the view has no report.",
)
share = Representation(
    "Share",
    public_id("019a9e40-4d52-7c63-8e74-2b3c4d5e6f70")._replace(source="share.public_id"),
    text(
        "name",
        lambda listed: None if listed.subject is None else name_of(listed.subject),
        "Spring campaign",
        "That of the view, or the title or short URL of the link. Null: it is gone.",
        allow_null=True,
    ),
    text("viewId", "share.view_id", "019a9e3d-2b7e-7d10-a3c4-5e6f70819203", allow_null=True),
    text("urlId", "share.url_id", None, allow_null=True),
    text("period", "share.period", "30d", f"{', '.join(PERIODS)}, or null.", allow_null=True),
    text("timezone", "share.timezone", "Europe/Berlin", "Null: that of the view, or UTC.", allow_null=True),
    flag("hasPassword", lambda listed: listed.share.password is not None, True),
    moment("expiresAt", "share.expires_at", "2030-12-31T23:00:00Z", allow_null=True),
    flag("noIndex", "share.no_index", True),
    _status,
    moment("createdAt", "share.created_at", "2030-03-01T09:30:00.123456Z"),
    moment("updatedAt", "share.updated_at", "2030-03-02T17:05:41.654321Z"),
)
ADDRESS = text(
    "address",
    None,
    f"https://sho.rt/reports/{_TOKEN}",
    "Of the page. It is shown once: keep it, or share again.",
)
