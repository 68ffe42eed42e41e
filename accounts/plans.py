"""What each plan allows."""

from __future__ import annotations

from django.db import models


class Plan(models.TextChoices):
    FREE = "free", "Free"
    PRO = "pro", "Pro"
    ENTERPRISE = "enterprise", "Enterprise"


def allows_custom_domains(plan: str) -> bool:
    return plan in (Plan.PRO, Plan.ENTERPRISE)
