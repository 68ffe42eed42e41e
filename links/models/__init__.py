"""The tables of `links`, by subject. Import the models from here."""

from links.models.counters import (
    ClickCounter,
    CreatedLinks,
    OwnerTotals,
    TagTotals,
    VisitorClicks,
    VisitorKey,
)
from links.models.deleted import DeletedLink
from links.models.links import (
    MAX_CODE,
    Code,
    CodeKind,
    Link,
    LinkBan,
    limits_of,
)
from links.models.routes import Route

__all__ = [
    "MAX_CODE",
    "ClickCounter",
    "Code",
    "CodeKind",
    "CreatedLinks",
    "DeletedLink",
    "Link",
    "LinkBan",
    "OwnerTotals",
    "Route",
    "TagTotals",
    "VisitorClicks",
    "VisitorKey",
    "limits_of",
]
