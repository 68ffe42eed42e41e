"""The age of an account, in words."""

from __future__ import annotations

from datetime import datetime

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
