"""The limits of each plan."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Plan(models.TextChoices):
    FREE = "free", "Free"
    PRO = "pro", "Pro"
    ENTERPRISE = "enterprise", "Enterprise"


def allows_custom_domains(plan: str) -> bool:
    return plan in (Plan.PRO, Plan.ENTERPRISE)


def requests_per_minute(plan: str) -> int:
    """API requests per minute; 0: no limit."""
    allowed: int = settings.RATE_LIMITS[plan]
    return allowed


def plans_without_request_limit() -> list[str]:
    return [plan for plan, allowed in settings.RATE_LIMITS.items() if not allowed]


def links_per_month(plan: str) -> int:
    """Links that can be created in a month; 0: no limit."""
    allowed: int = settings.LINK_QUOTAS[plan]
    return allowed
