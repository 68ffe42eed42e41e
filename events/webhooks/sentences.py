"""Events in words, for chats and mails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from events.types import EventType

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise
    from events.webhooks.messages import Occurred

_SENTENCES: Mapping[str, StrPromise] = {
    EventType.LINK_CREATED: _("New link: {link}"),
    EventType.LINK_UPDATED: _("Link changed: {link}"),
    EventType.LINK_DELETED: _("Link deleted: {link}"),
    EventType.LINK_RESTORED: _("Link brought back: {link}"),
    EventType.LINK_STARTED: _("Link has started: {link}"),
    EventType.LINK_EXPIRED: _("Link has expired: {link}"),
    EventType.LINK_LIMIT_REACHED: _("Link has no clicks left: {link}"),
    EventType.LINK_BANNED: _("Link is blocked by the operator: {link}"),
    EventType.DOMAIN_VERIFIED: _("Domain verified: {domain}"),
    EventType.DOMAIN_FAILING: _("The DNS records of a domain are wrong: {domain}"),
    EventType.DOMAIN_INACTIVE: _("Domain deactivated: {domain}"),
    EventType.DESTINATION_UNHEALTHY: _("The destination of a link cannot be reached: {link}"),
    EventType.DESTINATION_RECOVERED: _("The destination of a link can be reached again: {link}"),
    EventType.IMPORT_FINISHED: _("An import is finished."),
    EventType.KEY_CREATED: _("New API key: {key}"),
    EventType.KEY_REVOKED: _("API key deleted: {key}"),
    EventType.KEY_EXPIRING: _("An API key is about to expire: {key}"),
    EventType.MEMBER_JOINED: _("A member has joined the workspace."),
    EventType.MEMBER_LEFT: _("A member has left the workspace."),
    EventType.WEBHOOK_DISABLED: _("A webhook has been disabled: {webhook}"),
}


def sentences(events: Sequence[Occurred]) -> list[str]:
    """A line for each event, in the current language. The clicks of a link share one."""
    lines: dict[Any, str] = {}
    clicks: dict[str, int] = {}
    for event in events:
        if event.type == EventType.LINK_CLICKED:
            link = _shown(event.data, "link")
            clicks[link] = clicks.get(link, 0) + 1
            lines[link] = ngettext("{clicks} click: {link}", "{clicks} clicks: {link}", clicks[link]).format(
                clicks=clicks[link], link=link
            )
        else:
            names = {name: _shown(event.data, name) for name in ("link", "domain", "key", "webhook")}
            lines[event.id] = str(_SENTENCES[event.type]).format(**names)
    return list(lines.values())


def _shown(data: Mapping[str, Any], name: str) -> str:
    """What people know the object by: its address, and its title or name."""
    subject = data.get(name)
    if not isinstance(subject, Mapping):
        return ""
    address = subject.get("shortUrl") or subject.get("fullDomain") or subject.get("shortCode")
    parts = [subject.get("title") or subject.get("name"), address]
    return " ".join(" ".join(str(part).split()) for part in parts if part)
