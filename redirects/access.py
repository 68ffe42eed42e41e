"""Whether a visitor may follow a link now: pure rules, in their order."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from analytics.visitor import Visitor
from links.destinations import Target
from redirects import refusals
from redirects.refusals import Refusal


def decide(target: Target, visitor: Visitor, now: datetime) -> Refusal | None:
    """The first rule that refuses, or None. The password, if any, is asked after these.

    Clicks left are only looked at here; the claim decides, when the answer is certain.
    """
    if not target.is_active:
        return refusals.DISABLED
    if target.expires_at is not None and target.expires_at <= now:
        return refusals.EXPIRED
    if target.max_clicks is not None and target.clicks >= target.max_clicks:
        return refusals.LIMIT_REACHED
    if not is_country_allowed(visitor.country, target.allowed_countries, target.blocked_countries):
        return refusals.COUNTRY
    if target.allowed_devices and visitor.agent.form_factor not in target.allowed_devices:
        return refusals.DEVICE
    return None


def is_country_allowed(country: str | None, allowed: Collection[str], blocked: Collection[str]) -> bool:
    """An unknown country is in no list: an allow list keeps it out, a block list lets it in."""
    return (not allowed or country in allowed) and country not in blocked
