"""The state of a link as visitors see it, as the operators' lists name it."""

from __future__ import annotations

from datetime import datetime

from domains.models import DomainStatus
from links.models import Link


def visitor_state(link: Link, now: datetime) -> str:
    """The first check that refuses every visit, in the order of `redirects.checks.LINK_CHECKS`; "active" for none.

    Requires ``ban_reason`` of `links.operators.search.with_bans`, and the joined counter and domain.
    """
    ban_reason = link.ban_reason  # type: ignore[attr-defined] # annotated
    if ban_reason is not None:
        return "banned (legal)" if ban_reason == "legal" else "banned"
    if not link.is_active:
        return "switched off"
    if link.domain is not None and link.domain.status != DomainStatus.ACTIVE:
        return "domain not active"
    if link.starts_at is not None and now < link.starts_at:
        return "not started"
    if link.expires_at is not None and link.expires_at <= now:
        return "expired"
    if link.max_clicks is not None and link.counter.clicks >= link.max_clicks:
        return "used up"
    return "active"
