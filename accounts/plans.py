"""What each plan allows."""

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
    """0: as many as they like."""
    allowed: int = settings.RATE_LIMITS[plan]
    return allowed


def links_per_month(plan: str) -> int:
    """That may be created; 0: any number."""
    allowed: int = settings.LINK_QUOTAS[plan]
    return allowed
