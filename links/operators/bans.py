"""Bans of single links by operators. A ban takes effect on every worker once the caller's transaction commits."""

from __future__ import annotations

from common.host import cache_versions
from links.models import Link, LinkBan


def ban_link(*, link: Link, reason: str = "") -> LinkBan:
    """Deactivate a link so that its owner cannot reactivate it. Returns the existing ban if there is one."""
    ban, _ = LinkBan.objects.get_or_create(link=link, defaults={"reason": reason})
    cache_versions.bump_all()
    return ban


def lift_ban(*, ban: LinkBan) -> None:
    LinkBan.objects.filter(pk=ban.pk).delete()
    cache_versions.bump_all()
