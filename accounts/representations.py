"""The JSON objects of accounts, their sessions, workspaces as their members see them, and changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from rest_framework.fields import CharField, ChoiceField, DictField, ListField

from accounts.caps import storage_limit, stored_bytes
from accounts.code_styles import (
    ALPHABET_HELP,
    DEFAULT_LENGTH,
    LENGTH_HELP,
    MAX_LENGTH,
    MIN_LENGTH,
    CodeAlphabet,
)
from accounts.health_checks import HealthCheck
from accounts.history import ChangePage, visible_actor
from accounts.models import Change, Session, User
from accounts.rights import Plan, Role, allows_custom_domains, links_per_month, requests_per_minute
from accounts.second_factor import has_second_factor
from accounts.selectors import memberships_of
from common.http.current_request import AuthMethod
from common.openapi.responses import (
    Field,
    Representation,
    choice,
    flag,
    identifier,
    moment,
    number,
    public_id,
    text,
)


def code_settings(prefix: str = "", *, null: tuple[str, str]) -> tuple[Field, Field]:
    """How generated codes look. ``prefix``: of the attributes. ``null``: what null means for each."""
    length, alphabet = null
    values = ChoiceField(CodeAlphabet.values, allow_null=True, help_text=f"{ALPHABET_HELP} Null: {alphabet}.")
    return (
        number(
            "codeLength",
            f"{prefix}code_length",
            None,
            f"{LENGTH_HELP} Null: {length}.",
            min_value=MIN_LENGTH,
            max_value=MAX_LENGTH,
            allow_null=True,
        ),
        Field("codeAlphabet", f"{prefix}code_alphabet", values, CodeAlphabet.READABLE.value),
    )


_UNLIMITED = "Null: no limit."

limits_of_plan = Representation(
    "AccountLimits",
    number(
        "requestsPerMinute",
        lambda plan: requests_per_minute(plan) or None,
        600,
        f"API requests. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "linksPerMonth",
        lambda plan: links_per_month(plan) or None,
        1000,
        f"Links that can be created in a calendar month. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "domains",
        lambda plan: settings.DOMAINS_PER_ACCOUNT or None if allows_custom_domains(plan) else 0,
        0,
        f"Custom domains. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "qrCodes",
        lambda plan: settings.QR_CODES_PER_ACCOUNT or None,
        100_000,
        f"QR codes. {_UNLIMITED}",
        allow_null=True,
    ),
    number(
        "storedBytes",
        lambda plan: storage_limit(plan) or None,
        5_000_000_000,
        f"Bytes of links and QR codes. {_UNLIMITED}",
        allow_null=True,
    ),
)


WORKSPACE_ID = "01a1fa86-5c3e-7f10-8d44-6a2b9c0e7f81"
_TOKEN = "k3TzP9qXw7Jd2mVbN5rLcF8sHgYt4uAeZ1oQi6pKxDs"  # noqa: S105 # an example

workspace_summary = Representation(
    "WorkspaceSummary",
    identifier("_id", "workspace.public_id", WORKSPACE_ID),
    text("name", "workspace.name", "Marketing"),
    flag(
        "isPersonal",
        "workspace.is_personal",
        False,
        "Whether it is the account's own, without other members.",
    ),
    choice("role", "role", Role.values, Role.OWNER.value, "Your role."),
)
workspace_object = Representation(
    "Workspace",
    *workspace_summary.fields,
    choice("plan", "workspace.plan", Plan.values, Plan.PRO.value),
    limits_of_plan.nested("limits", lambda member: limits_of_plan(member.workspace.plan)),
    Field(
        "ignoredNetworks",
        "workspace.ignored_networks",
        ListField(
            child=CharField(),
            help_text="Networks whose visits do not count: reports show them as `ignored`.",
        ),
        ["203.0.113.0/24", "2001:db8::/32"],
    ),
    choice(
        "healthCheck",
        "workspace.health_check",
        HealthCheck.values,
        HealthCheck.OFF.value,
        "How often the destinations of links are checked that do not say it themselves.",
    ),
    *code_settings("workspace.", null=(f"{DEFAULT_LENGTH}", f"`{CodeAlphabet.FULL}`")),
    moment("createdAt", "workspace.created_at", "2026-01-05T09:30:00Z"),
)
read_workspace_object = Representation(
    "WorkspaceWithUsage",
    *workspace_object.fields,
    number(
        "storedBytes",
        lambda member: stored_bytes(member.workspace),
        48_213_700,
        "What its links and QR codes take: their texts and logos, and a fixed part for each. Deleted links count "
        "until they can no longer be brought back.",
    ),
)
member_object = Representation(
    "Member",
    identifier("_id", "user.public_id", "01a1fa86-3c5e-7d21-9f0a-4b6c8d2e1f35"),
    text("email", "user.email", "ada@example.com"),
    text("firstName", "user.first_name", "Ada"),
    text("lastName", "user.last_name", "Lovelace"),
    choice("role", "role", Role.values, Role.OWNER.value),
    moment("joinedAt", "created_at", "2026-01-05T09:30:00Z"),
)
invitation_object = Representation(
    "Invitation",
    public_id("01a1fa86-9e2a-7b53-a1c7-3d8f5b0e6a42"),
    text("email", "email", "grace@example.com", "The account that can accept it. Empty: any account."),
    choice("role", "role", Role.values, Role.EDITOR.value),
    moment("createdAt", "created_at", "2026-01-05T09:30:00Z"),
    moment("expiresAt", "expires_at", "2026-01-12T09:30:00Z"),
)
new_invitation = Representation(
    "NewInvitation",
    *invitation_object.fields,
    text(
        "token", None, _TOKEN, "Shown once. The recipient accepts with POST /api/invitations/{token}/accept."
    ),
    flag("mailed", None, True, "Whether the service has mailed the invitation to its address."),
)


def _limits(user: User) -> dict[str, object]:
    return limits_of_plan(user.plan)


def _workspaces(user: User) -> list[dict[str, object]]:
    return [workspace_summary(member) for member in memberships_of(user)]


own_account = Representation(
    "Account",
    public_id("01a1fa86-3c5e-7d21-9f0a-4b6c8d2e1f35"),
    text("email", "email", "ada@example.com"),
    text("firstName", "first_name", "Ada"),
    text("lastName", "last_name", "Lovelace"),
    text(
        "language", "language", "en", "Of mails to the account. Null: that of the request.", allow_null=True
    ),
    choice("plan", "plan", Plan.values, Plan.FREE.value),
    limits_of_plan.nested("limits", _limits),
    workspace_summary.listed("workspaces", _workspaces),
    flag("isStaff", "is_staff", False, "Whether the account may open the admin."),
    flag("hasTwoFactors", has_second_factor, False, "Whether a login needs `otp` as well as the password."),
)


omission = Representation(
    "NotIncluded",
    text("name", "name", "account.password", "A part and its column, or a kind of object."),
    text("reason", "reason", "A secret, or what secrets are compared with."),
)
PERSONAL_DATA = (
    moment("exportedAt", None, "2030-03-01T09:30:00Z"),
    Field(
        "parts",
        None,
        DictField(
            child=ListField(child=DictField()),
            help_text="What is stored, by kind: the account, sessions, keys, memberships, changes and so on.",
        ),
        {
            "memberships": [
                {"workspaceId": WORKSPACE_ID, "role": "owner", "createdAt": "2026-01-05T09:30:00Z"}
            ]
        },
    ),
    omission.listed("notIncluded", help_text="What is stored, but not in this document, and why."),
)


def listed_session(session: Session, current: int) -> dict[str, object]:
    return {**session_object(session), "isCurrent": session.pk == current}


session_object = Representation(
    "Session",
    public_id("01a1fa86-7b1d-7c44-8e52-0d9f3a6b5c17"),
    moment("createdAt", "created_at", "2026-01-05T09:30:00Z"),
    moment("lastUsedAt", "last_used_at", "2026-01-06T17:02:00Z", help_text="Exact to a minute."),
    moment("expiresAt", "expires_at", "2026-02-04T09:30:00Z"),
    text("userAgent", "user_agent", "Mozilla/5.0 (X11; Linux x86_64)", "Of the login. May be empty."),
    flag("isCurrent", None, True, "Whether this request's token belongs to the session."),
)


_DAYS_PER_MONTH = 30
_DAYS_PER_YEAR = 365


def account_age(created_at: datetime, now: datetime) -> str:
    """Return the age in its largest whole unit: ``today``, ``1 day``, ``12 days``, ``3 months``, ``2 years``."""
    days = (now - created_at).days
    if days < 1:
        return "today"
    if days < _DAYS_PER_MONTH:
        return _count(days, "day")
    if days < _DAYS_PER_YEAR:
        return _count(days // _DAYS_PER_MONTH, "month")
    return _count(days // _DAYS_PER_YEAR, "year")


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


ACTOR = Representation(
    "Actor",
    public_id("019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60"),
    text("firstName", "first_name", "Ada"),
    text("lastName", "last_name", "Lovelace"),
    text("email", "email", "ada@example.com"),
)


def _actor_of(change: Change) -> dict[str, Any] | None:
    actor = visible_actor(change)
    return None if actor is None else ACTOR(actor)


CHANGE = Representation(
    "Change",
    public_id("5f1c9a52-e0d8-4b7f-9a6d-2c8b51e07f64"),
    moment("changedAt", "changed_at", "2030-03-02T17:05:41.654321Z"),
    text("action", "action", "link.updated", "The kind of object and of change."),
    identifier("objectId", "object_id", "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    text(
        "subject",
        "subject",
        None,
        "Whom a change of a member or an invitation concerns: a name or an address. Null if the account is deleted.",
        allow_null=True,
    ),
    Field("before", "before", DictField(help_text="The changed fields' former values."), {"title": "Sale"}),
    Field("after", "after", DictField(help_text="The changed fields' new values."), {"title": "Spring sale"}),
    ACTOR.nested(
        "actor",
        _actor_of,
        allow_null=True,
        help_text="Null for a key of the workspace, the service, an operator, a deleted account, and on a page"
        " before a login.",
    ),
    Field(
        "via",
        "via",
        ChoiceField([method.value for method in AuthMethod], help_text="How the actor authenticated."),
        "token",
    ),
    text(
        "keyId",
        "key_id",
        None,
        "The `_id` of the key with scopes that the actor used. Null for the account's own key, too.",
        allow_null=True,
    ),
    text(
        "tokenIssuer",
        "token_issuer",
        None,
        "The issuer of the token that acted as this key. Null: the key itself.",
        allow_null=True,
    ),
    text("tokenSubject", "token_subject", None, "The subject of that token.", allow_null=True),
    text(
        "requestId", "request_id", "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b76", "The `X-Request-ID`. May be empty."
    ),
    text(
        "traceId",
        "trace_id",
        None,
        "The trace in the `traceparent` that a trusted proxy sent. Null without a valid one.",
        allow_null=True,
    ),
)
CURSOR_PAGE = Representation(
    "HistoryPagination",
    number("limit", None, 20, min_value=1),
    text("nextCursor", None, None, "Null on the last page.", allow_null=True),
)
CHANGE_PAGE = (CHANGE.listed("changes"), CURSOR_PAGE.nested("pagination"))


def change_page(page: ChangePage, limit: int) -> dict[str, Any]:
    return {
        "changes": [CHANGE(change) for change in page.changes],
        "pagination": {"limit": limit, "nextCursor": page.next_cursor},
    }
