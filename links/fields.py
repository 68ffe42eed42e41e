"""Every field of a link that its owner sets, declared once. docs: CONTRIBUTING.md, "A field of a link".

From this table derive the serializers (`links.serializers`), the columns of the statements (`links.storage.columns`),
the stored values (`links.rules`, `links.routing.columns`), the representation, the columns of files, the admin, the
names in the history, the columns that a redirect reads (`links.destinations.lookup`), what the fast lane serves, and
the table of the editor (`dashboard/front/pages/editor/fields.js`). Plain Python: redirects read it without DRF.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from django.db import models

from accounts.health_checks import HealthCheck


class RedirectType(models.IntegerChoices):
    PERMANENT = 301, "301, permanent"
    FOUND = 302, "302, temporary"


class Device(models.TextChoices):
    DESKTOP = "desktop"
    MOBILE = "mobile"
    TABLET = "tablet"


class ReferrerPolicy(models.TextChoices):
    NO_REFERRER = "no-referrer"
    ORIGIN = "origin"
    STRICT_ORIGIN_WHEN_CROSS_ORIGIN = "strict-origin-when-cross-origin"


# Words in the values of conditions.
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# The value of a referrerHost condition that matches visits without a referrer.
DIRECT = "direct"


class Kind(Enum):
    """How the API takes and shows a value, and how the database and a cell of a file have it."""

    TEXT = auto()
    # An address that is checked; the database has its canonical form.
    URL = auto()
    MOMENT = auto()
    FLAG = auto()
    COUNT = auto()
    CHOICE = auto()
    LIST = auto()
    # Objects, or lists of objects.
    JSON = auto()


class Use(Enum):
    """How a redirect uses a field. A field without a use is not read for redirects."""

    # It is a part of the response, and restricts nobody.
    ANSWER = auto()
    # The response may differ between visits.
    GUARD = auto()
    # It is a part of `Target.routing`.
    ROUTING = auto()


class Section(Enum):
    """The part of the admin's page that shows a field."""

    NAMING = "Naming"
    DESTINATION = "Destination"
    TIMES = "Times"
    LIMITS = "Limits"
    REDIRECT = "Redirect"


_SQL_TYPES = {
    Kind.TEXT: "text",
    Kind.URL: "text",
    Kind.MOMENT: "timestamptz",
    Kind.FLAG: "boolean",
    Kind.COUNT: "integer",
    Kind.CHOICE: "text",
    Kind.LIST: "text[]",
    Kind.JSON: "jsonb",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkField:
    """``name`` is that of the API, of the history and of files.

    ``help`` describes the field of a request, ``shown_help`` that of a response, and ``example`` is a shown value;
    without one, examples of responses omit the field. ``default`` is the stored value for null.

    ``leads``: the field decides where the link leads, and most links have its default. ``needs_link``: whether a new
    value is valid depends on the link's other fields.

    ``is_unique``: at most one link of a workspace has the value, a text. The model has the ``constraint``.

    ``is_secret``: the column has a hash of the value, which is never shown, only whether there is one.

    ``parts``: the API nests these in an object; they have the columns.

    Without ``fast_lane``, the fast lane does not serve links on which a redirect depends on the field.
    """

    name: str
    column: str
    kind: Kind
    section: Section
    help: str | None = None
    shown_help: str | None = None
    example: Any = ...
    default: Any = None
    sql_type: str = ""
    characters: int | None = None
    choices: Sequence[Any] = ()
    leads: bool = False
    needs_link: bool = False
    use: Use | None = None
    fast_lane: bool = False
    is_unique: bool = False
    is_secret: bool = False
    parts: tuple[LinkField, ...] = ()

    def stored(self, value: Any) -> Any:
        """The value of the column for a valid value of a request."""
        if value is None:
            return self.default
        return value.href if self.kind is Kind.URL else value

    @property
    def constraint(self) -> str:
        return f"link_{self.column}"

    @property
    def type_of_column(self) -> str:
        return self.sql_type or _SQL_TYPES[self.kind]


# An empty value restricts nothing.
RESTRICTIONS = (
    LinkField(
        name="maxClicks",
        column="max_clicks",
        kind=Kind.COUNT,
        section=Section.LIMITS,
        example=1000,
        use=Use.GUARD,
    ),
    LinkField(
        name="maxClicksPerVisitor",
        column="max_clicks_per_visitor",
        kind=Kind.COUNT,
        section=Section.LIMITS,
        shown_help="Clicks per IP address. IPv6 addresses are grouped by /64.",
        example=2,
        use=Use.GUARD,
    ),
    LinkField(
        name="allowedCountries",
        column="allowed_countries",
        kind=Kind.LIST,
        section=Section.LIMITS,
        example=["DE", "FR"],
        default=(),
        use=Use.GUARD,
        fast_lane=True,
    ),
    LinkField(
        name="blockedCountries",
        column="blocked_countries",
        kind=Kind.LIST,
        section=Section.LIMITS,
        example=["AQ"],
        default=(),
        use=Use.GUARD,
        fast_lane=True,
    ),
    LinkField(
        name="allowedDevices",
        column="allowed_devices",
        kind=Kind.LIST,
        section=Section.LIMITS,
        example=["mobile"],
        choices=Device.values,
        default=(),
        use=Use.GUARD,
        fast_lane=True,
    ),
)
# In the order of responses and files. Each object, list of objects and code has rules of its own.
FIELDS = (
    LinkField(
        name="customCode",
        column="custom_code",
        kind=Kind.TEXT,
        section=Section.NAMING,
        help="Case-sensitive.",
        example="spring",
        needs_link=True,
    ),
    LinkField(
        name="title",
        column="title",
        kind=Kind.TEXT,
        section=Section.NAMING,
        characters=200,
        example="Spring sale",
    ),
    LinkField(
        name="description",
        column="description",
        kind=Kind.TEXT,
        section=Section.NAMING,
        characters=500,
        example=None,
    ),
    LinkField(
        name="tags",
        column="tags",
        kind=Kind.LIST,
        section=Section.NAMING,
        example=["sale", "mail"],
        default=(),
    ),
    LinkField(
        name="expiresAt",
        column="expires_at",
        kind=Kind.MOMENT,
        section=Section.TIMES,
        help="In UTC if it has no offset. A date without a time means 00:00.",
        example="2030-06-01T00:00:00Z",
        needs_link=True,
        use=Use.GUARD,
        fast_lane=True,
    ),
    LinkField(
        name="password",
        column="password",
        kind=Kind.TEXT,
        section=Section.LIMITS,
        help="Visitors must enter it before the redirect. Null: no password.",
        is_secret=True,
        use=Use.GUARD,
    ),
    LinkField(
        name="utm",
        column="utm",
        kind=Kind.JSON,
        section=Section.DESTINATION,
        help="Campaign parameters, added to the destination. An update replaces the whole object.",
        use=Use.ROUTING,
    ),
    LinkField(
        name="restrictions",
        column="restrictions",
        kind=Kind.JSON,
        section=Section.LIMITS,
        help="Limits on who may follow the link, and how often. An update replaces the whole object.",
        parts=RESTRICTIONS,
    ),
    LinkField(
        name="redirectType",
        column="redirect_type",
        kind=Kind.CHOICE,
        section=Section.REDIRECT,
        sql_type="smallint",
        choices=RedirectType.values,
        default=RedirectType.FOUND,
        example=302,
        use=Use.ANSWER,
        fast_lane=True,
    ),
    LinkField(
        name="isActive",
        column="is_active",
        kind=Kind.FLAG,
        section=Section.NAMING,
        help="Whether the link redirects.",
        default=True,
        example=True,
        use=Use.ANSWER,
    ),
    LinkField(
        name="targetUrl",
        column="target_url",
        kind=Kind.URL,
        section=Section.DESTINATION,
        help="Where the link leads instead of to `originalUrl`. Null: to `originalUrl`.",
        shown_help="As sent.",
        example=None,
        leads=True,
    ),
    LinkField(
        name="startsAt",
        column="starts_at",
        kind=Kind.MOMENT,
        section=Section.TIMES,
        help="Before this time, the link responds with 404 or redirects to `notStartedUrl`. Earlier than"
        " `expiresAt`.",
        example=None,
        leads=True,
        use=Use.GUARD,
        fast_lane=True,
    ),
    LinkField(
        name="notStartedUrl",
        column="not_started_url",
        kind=Kind.URL,
        section=Section.TIMES,
        help="Where visitors go before `startsAt`. These visits do not count as clicks.",
        example=None,
        leads=True,
        use=Use.ANSWER,
        fast_lane=True,
    ),
    LinkField(
        name="expiredUrl",
        column="expired_url",
        kind=Kind.URL,
        section=Section.TIMES,
        help="Where visitors go after `expiresAt` or the last click. These visits are no clicks. Null: to the"
        " `expiredUrl` of the domain, if it has one.",
        example=None,
        leads=True,
        use=Use.ANSWER,
        fast_lane=True,
    ),
    LinkField(
        name="fallbackUrl",
        column="fallback_url",
        kind=Kind.URL,
        section=Section.DESTINATION,
        help="Where the link leads instead while its destination is dead: see `health`.",
        example=None,
        leads=True,
    ),
    LinkField(
        name="healthCheck",
        column="health_check",
        kind=Kind.CHOICE,
        section=Section.DESTINATION,
        choices=HealthCheck.values,
        help="How often the destination is checked: `off`, `weekly` or `daily`. Null: as the workspace says.",
        example=None,
        leads=True,
    ),
    LinkField(
        name="forwardQuery",
        column="forward_query",
        kind=Kind.FLAG,
        section=Section.REDIRECT,
        help="Whether redirects add the visitor's query parameters that the destination does not have.",
        default=False,
        example=False,
        leads=True,
        use=Use.ROUTING,
    ),
    LinkField(
        name="referrerPolicy",
        column="referrer_policy",
        kind=Kind.CHOICE,
        section=Section.REDIRECT,
        choices=ReferrerPolicy.values,
        help="The `Referrer-Policy` header of redirects. Null: none.",
        example=ReferrerPolicy.NO_REFERRER.value,
        leads=True,
        use=Use.ANSWER,
        fast_lane=True,
    ),
    LinkField(
        name="rules",
        column="rules",
        kind=Kind.JSON,
        section=Section.DESTINATION,
        leads=True,
        use=Use.ROUTING,
    ),
    LinkField(
        name="split",
        column="split",
        kind=Kind.JSON,
        section=Section.DESTINATION,
        leads=True,
        use=Use.ROUTING,
    ),
    LinkField(
        name="preview",
        column="preview",
        kind=Kind.JSON,
        section=Section.REDIRECT,
        help="The card that messengers and social networks show instead of the destination's own. Never for a"
        " link with a password. An update replaces the whole object.",
        leads=True,
        use=Use.GUARD,
        fast_lane=True,
    ),
    LinkField(
        name="externalId",
        column="external_id",
        kind=Kind.TEXT,
        section=Section.NAMING,
        help="The id of the link in another system. Only one link of the workspace can have it.",
        characters=100,
        example="order-1042",
        is_unique=True,
    ),
    LinkField(
        name="isArchived",
        column="is_archived",
        kind=Kind.FLAG,
        section=Section.NAMING,
        help="Whether lists hide the link. It works like any other.",
        default=False,
        example=False,
    ),
)
BY_NAME = {field.name: field for field in (*FIELDS, *RESTRICTIONS)}
# The fields with a column.
STORED = tuple(stored for field in FIELDS for stored in field.parts or (field,))
UNIQUE = tuple(field for field in FIELDS if field.is_unique)
