"""Links as the API shows them: each field's value, schema and example."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from rest_framework.fields import CharField, ChoiceField, ListField

from accounts.models import User, Workspace
from common.http.short_urls import BASE_ID, short_url
from common.openapi.responses import (
    Field,
    Representation,
    choice,
    count,
    flag,
    identifier,
    moment,
    number,
    public_id,
    text,
)
from common.rest.returns import Version
from domains.models import DomainStatus
from links.availability import Status
from links.code_checks import Unavailable
from links.codes import short_url_of
from links.deleted_links import DeletedRow
from links.destinations.utm import UTM_KEYS
from links.fields import BY_NAME, FIELDS, RESTRICTIONS, UNIQUE, Kind, LinkField
from links.grouped_counts import Counted
from links.health.states import HealthStatus
from links.list_counts import COUNT_LIMIT
from links.models import Link
from links.routing.conditions import ConditionSerializer
from links.selectors import LinkRow, Overview


def _row_short_url(row: LinkRow | DeletedRow) -> str:
    return short_url(row.host, row.custom_code or row.short_code)


def _row_domain_id(row: LinkRow) -> str:
    return BASE_ID if row.domain_id is None else str(row.domain_id)


def _restriction(field: LinkField) -> Field:
    if field.kind is Kind.COUNT:
        return number(field.name, field.column, field.example, field.shown_help, required=False, min_value=1)
    child = ChoiceField(field.choices) if field.choices else CharField()
    return Field(field.name, field.column, ListField(child=child, required=False), field.example)


def _restrictions(link: Any) -> dict[str, Any]:
    return {name: value for name, get in _RESTRICTION_GETTERS if (value := get(link))}


_RESTRICTION_GETTERS = [(field.name, attrgetter(field.column)) for field in RESTRICTIONS]
_RESTRICTIONS = Representation("Restrictions", *map(_restriction, RESTRICTIONS))
_UTM = Representation(
    "Utm",
    *(
        text(key, None, value, required=False)
        for key, value in zip(UTM_KEYS, ("newsletter", "email", "spring", "shoes", "header"), strict=True)
    ),
)
_BRANCH = (
    identifier("_id", None, "3f1c9a52e0d84b7f9a6d2c8b51e07f64"),
    text("name", None, "Germany"),
    text("url", None, "https://example.com/de", "As sent."),
)
_CONDITION = {"type": "country", "values": ["DE"], "not": False}
_RULE = Representation(
    "Rule", *_BRANCH, Field("conditions", None, ConditionSerializer(many=True), [_CONDITION])
)
_VARIANT = Representation("Variant", *_BRANCH, number("weight", None, 30, min_value=1, max_value=99))
_PREVIEW = Representation(
    "LinkPreview",
    text("title", None, "Spring sale", allow_null=True),
    text("description", None, None, allow_null=True),
    text("imageUrl", None, "https://example.com/card.png", allow_null=True),
)


def _branches(name: str) -> Callable[[Any], list[dict[str, Any]]]:
    """Represent rules or entries of a split, without the fields that are not for clients."""
    hidden = {"number", "href"}
    read = attrgetter(name)
    return lambda link: [
        {key: value for key, value in entry.items() if key not in hidden} for entry in read(link)
    ]


_ROUTING_FORMS = {
    "rules": _RULE.listed("rules", _branches("rules")),
    "split": _VARIANT.listed("split", _branches("split")),
    "preview": _PREVIEW.nested("preview", "preview", allow_null=True),
}
_OWN_FORMS = {
    "tags": Field("tags", "tags", ListField(child=CharField()), BY_NAME["tags"].example),
    "password": flag("hasPassword", "has_password", False),
    "utm": _UTM.nested("utm", "utm"),
    "restrictions": _RESTRICTIONS.nested("restrictions", _restrictions),
    **_ROUTING_FORMS,
}


def _shown(field: LinkField) -> Field:
    """How responses show a field of the table."""
    if field.name in _OWN_FORMS:
        return _OWN_FORMS[field.name]
    name, column = field.name, field.column
    if field.kind is Kind.FLAG:
        return flag(name, column, field.example, field.shown_help)
    is_nullable = field.default is None
    if field.kind is Kind.MOMENT:
        return moment(name, column, field.example, allow_null=is_nullable)
    if field.kind is Kind.CHOICE:
        return Field(name, column, ChoiceField(field.choices, allow_null=is_nullable), field.example)
    return text(name, column, field.example, field.shown_help, allow_null=is_nullable)


# An update always returns these.
_ALWAYS = ("title", "tags", "isActive")
_TITLE, _TAGS, _IS_ACTIVE = (_shown(BY_NAME[name]) for name in _ALWAYS)
_CHANGEABLE = tuple(_shown(field) for field in FIELDS if field.name not in _ALWAYS)
_CREATOR = Representation(
    "Creator",
    public_id("019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60"),
    text("firstName", "first_name", "Ada"),
    text("lastName", "last_name", "Lovelace"),
    text("email", "email", "ada@example.com"),
)
_HEALTH_HELP = (
    "Of the destination, by checks. `blocked`: the host answers 403, 429 or 503, or its robots.txt forbids the check."
    " `dead`: three checks of at least 24 hours failed."
)
_PROBLEM_HELP = (
    "What the last check found: the status of the answer, or `nxdomain`, `refused`, `tls`, `timeout`, `dns`,"
    " `unreachable`, `protocol`, `too_large`, `forbidden_address`, `bad_url`, `redirects` or `robots`."
)
_STATUS = choice(
    "status",
    "status",
    list(Status),
    Status.ACTIVE.value,
    "Whether visitors can follow the link now, or the first reason why not. `domain_inactive`: its custom domain.",
)
_HEALTH = Representation(
    "Health",
    choice("status", "status", HealthStatus.values, HealthStatus.HEALTHY.value, _HEALTH_HELP),
    moment("checkedAt", "checked_at", "2030-03-02T05:11:09.204511Z", allow_null=True),
    text("problem", "problem", None, _PROBLEM_HELP, allow_null=True),
    moment("failingSince", "failing_since", None, allow_null=True),
)
WHOLE_URL = Representation(
    "Url",
    public_id("019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    text("originalUrl", "original_url", "https://example.com/spring?ref=mail", "As sent."),
    text("shortCode", "short_code", "k3TzP9q"),
    text("shortUrl", short_url_of, "https://go.example.com/spring", "The complete short link."),
    _TITLE,
    _TAGS,
    count("clickCount", "counter.clicks"),
    _IS_ACTIVE,
    _STATUS,
    _HEALTH.nested("health", lambda link: _HEALTH(link.health)),
    *_CHANGEABLE,
    number(
        "importedClicks",
        None,
        help_text="The part of `clickCount` that was imported. Reports contain only imported visits with a day.",
        required=False,
        min_value=1,
    ),
    text(
        "domainId",
        lambda link: BASE_ID if link.domain is None else str(link.domain.public_id),
        BASE_ID,
        f"`{BASE_ID}` is the default domain.",
    ),
    _CREATOR.nested(
        "creator",
        allow_null=True,
        help_text="Null: the account has been deleted. In a personal workspace it is then the workspace's account.",
    ),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment("updatedAt", "updated_at", "2030-03-02T17:05:41.654321Z"),
)

_OF_NEW = "_id originalUrl shortCode customCode shortUrl title tags clickCount isActive status createdAt"
created_link = WHOLE_URL.pick(
    "NewUrl",
    _OF_NEW,
    clickCount=lambda _: 0,
    status=lambda link: link.status_after(0),
)
# The same fields of a link that was not created now.
found_link = WHOLE_URL.pick("", _OF_NEW)
listed_link = WHOLE_URL.pick(
    "ListedUrl",
    "_id originalUrl targetUrl shortCode customCode shortUrl domainId title tags clickCount isActive isArchived status"
    " health startsAt expiresAt hasPassword redirectType createdAt updatedAt creator",
    shortUrl=_row_short_url,
    domainId=_row_domain_id,
    clickCount="clicks",
)
_top_link = listed_link.pick("TopUrl", "_id originalUrl shortCode shortUrl title clickCount status createdAt")


def _with_the_rest(component: str, shown: Representation) -> Representation:
    """These fields, and optionally all others of a link, which clients get who prefer it."""
    rest = (field.optional() for field in WHOLE_URL.fields if field.name not in shown.names)
    return Representation(component, *shown.fields, *rest)


CREATED_URL = _with_the_rest("NewUrl", created_link)
UPDATED_URL = _with_the_rest(
    "UpdatedUrl", WHOLE_URL.pick("", "_id shortUrl title tags isActive status updatedAt")
)
CODE_CHECK = (
    flag("available", None, True, "Whether a link could get the code now."),
    Field(
        "reason",
        None,
        ChoiceField(Unavailable.values, allow_null=True, help_text="Why it is not available."),
        None,
    ),
    Field(
        "suggestions",
        None,
        ListField(child=CharField(), help_text="If it is taken: codes that are available."),
        [],
    ),
)
IS_NEW = flag("created", None, True, "Whether the link is new.")
DELETED_URL = WHOLE_URL.pick("DeletedUrl", "_id")
restorable_link = Representation(
    "RestorableUrl",
    *listed_link.pick(
        "", "_id originalUrl targetUrl shortCode customCode shortUrl title tags clickCount createdAt"
    ).fields,
    moment("deletedAt", "deleted_at", "2030-03-09T08:00:00.123456Z"),
    moment("restorableUntil", "restorable_until", "2030-03-16T08:00:00.123456Z"),
)
MOVED_URL = WHOLE_URL.pick("MovedUrl", "_id")
_changeable = Representation("", _TITLE, _TAGS, _IS_ACTIVE, *_CHANGEABLE)


def whole_link(link: Link, owner: Workspace, account: User | None) -> dict[str, Any]:
    """Every field except the password, of which only ``hasPassword`` is shown. ``account`` reads the link.

    A link of a personal workspace without a stored creator is of the workspace's account, which alone can read it.
    That includes a link of a team whose creator's account was deleted: whoever moves it into their workspace takes it
    over.
    """
    creator = account if link.creator is None and owner.is_personal else link.creator
    imported = {"importedClicks": link.counter.imported} if link.counter.imported else {}
    return {**WHOLE_URL(link), **imported, "creator": creator and _CREATOR(creator)}


def version_of(link: Link, shown: Mapping[str, Any], *, is_new: bool = False) -> Version:
    """The version of a link, as ``shown``. Clicks, status and health change without a new one."""
    clicks, imported = (0, 0) if is_new else (link.counter.clicks, link.counter.imported)
    return Version(link.updated_at, _state(clicks, imported, shown["status"], *link.health))


# Most links of a response are new, or have few clicks.
@lru_cache(1_000)
def _state(*values: object) -> str:
    return blake2b(" ".join(map(str, values)).encode(), digest_size=6).hexdigest()


def listed_links(rows: Iterable[LinkRow], owner: Workspace, account: User | None) -> list[dict[str, Any]]:
    """Rows of a list that ``account`` reads, with the same creators as `whole_link`."""
    unnamed = _CREATOR(account) if owner.is_personal and account is not None else None
    return [
        {**listed_link(row), "creator": unnamed if row.creator is None else _CREATOR(row.creator)}
        for row in rows
    ]


def updated_link(link: Link, changed: Collection[str]) -> dict[str, Any]:
    """The fields that every update returns, and the fields of the request."""
    shown = {"_id", "shortUrl", *_ALWAYS, "status", "updatedAt", *changed}
    if "password" in changed:
        shown.add("hasPassword")
    if "utmTemplateId" in changed:
        shown.add("utm")
    return UPDATED_URL.only(shown, link)


def changeable_fields(link: Any) -> dict[str, Any]:
    """``link`` is a Link, or a row of an export, which has the same attributes."""
    return _changeable(link)


link_domain = Representation(
    "LinkDomain",
    text("id", "id", BASE_ID, f"`{BASE_ID}` is the default domain."),
    text("fullDomain", "full_domain", "go.example.com"),
    text("shortUrl", "short_url", "https://go.example.com", "`/` and a code complete the short URL."),
)
available_domain = Representation(
    "AvailableDomain",
    *link_domain.fields,
    text("domain", "domain", "go.example.com"),
    text("subdomain", "subdomain", None, allow_null=True),
    flag("isDefault", "is_default", True),
    choice("status", "status", DomainStatus.values, "active"),
    flag("isSystemDomain", "is_default", True),
)


_FILTERS = {
    "search": ...,
    "tags": "spring",
    "tagsMode": ...,
    "excludeTags": ...,
    "isActive": ...,
    "status": ...,
    "archived": ...,
    "health": ...,
    "createdFrom": ...,
    "createdBefore": ...,
    "createdAfter": ...,
    "expiresWithin": ...,
    "domainId": ...,
    "creator": ...,
    "hasPassword": ...,
    "destination": ...,
    **{field.name: ... for field in UNIQUE},
    "sortBy": "clickCount",
    "sortOrder": ...,
}
_link_group = Representation(
    "LinkGroup",
    text("value", "value", "spring", "As the filter of the list takes it: a tag, a `domainId` or a status."),
    count("urls", "links", 12),
)
COUNT = (
    count("total", example=42),
    flag(
        "totalIsCapped",
        None,
        help_text=f"True if more than {COUNT_LIMIT} match, and the rest was not counted.",
        required=False,
    ),
    _link_group.listed("groups", required=False, help_text="With `groupBy`, the largest first."),
    number("groupCount", None, 1, "With `groupBy`: how many groups there are.", required=False, min_value=0),
)


def counted_links(counted: Counted) -> dict[str, Any]:
    capped = {"totalIsCapped": True} if counted.is_capped else {}
    if counted.groups is None:
        return {"total": counted.total, **capped}
    groups = [_link_group(group) for group in counted.groups]
    return {"total": counted.total, **capped, "groups": groups, "groupCount": counted.all_groups}


view_filters = Representation(
    "ViewFilters", *(text(name, None, value, required=False) for name, value in _FILTERS.items())
)
# Those of a report on many links, except its sizes.
REPORT_PARAMETERS = (
    *("period", "startDate", "endDate", "timezone", "interval", "compare"),
    *("urlIds", "tags", "tagsMode", "excludeTags", "domainId", "creator"),
    *("country", "region", "city", "continent", "device", "browser", "os", "language", "referrer", "channel"),
    *("utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent", "branch", "kind"),
)
_report_example = {"period": "30d", "country": "DE", "tags": "spring"}
view_report = Representation(
    "ViewReport",
    *(text(name, None, _report_example.get(name, ...), required=False) for name in REPORT_PARAMETERS),
)
saved_view = Representation(
    "SavedView",
    public_id("019a9e3d-2b7e-7d10-a3c4-5e6f70819203"),
    text("name", "name", "Spring campaign"),
    view_filters.nested("filters", "filters", help_text="Parameters of `GET /api/urls`, as texts."),
    view_report.nested(
        "report",
        "report",
        allow_null=True,
        help_text="Parameters of `GET /api/analytics`, as texts; null: none.",
    ),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment("updatedAt", "updated_at", "2030-03-02T17:05:41.654321Z"),
)


def _top_links(shown: Overview) -> list[dict[str, Any]]:
    return [_top_link(row) for row in shown.top]


overview = Representation(
    "Stats",
    count("totalUrls", "links", 1),
    count("activeUrls", "active_links", 1),
    count("totalClicks", "clicks"),
    _top_link.listed("topUrls", _top_links),
)
