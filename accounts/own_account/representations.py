"""The JSON objects of an account's own data."""

from __future__ import annotations

from accounts.models import Session, User
from accounts.rights.plans import Plan
from accounts.rights.representations import limits_of_plan
from accounts.second_factor.policy import has_second_factor
from accounts.workspaces.representations import workspace_summary
from accounts.workspaces.selectors import memberships_of
from common.openapi.response_fields import choice, flag, moment, public_id, text
from common.openapi.responses import Representation


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
    choice("plan", "plan", Plan.values, Plan.FREE.value),
    limits_of_plan.nested("limits", _limits),
    workspace_summary.listed("workspaces", _workspaces),
    flag("isStaff", "is_staff", False, "Whether the account may open the admin."),
    flag("hasTwoFactors", has_second_factor, False, "Whether a login needs `otp` as well as the password."),
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
