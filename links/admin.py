from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from accounts.admin import OwnedAdmin
from bans.admin import BanAdmin, BanForm, BanListAdmin
from bans.models import Ban
from bans.services import Affected
from common.admin import one_line
from common.http.urls import canonical_destination
from links.availability import Status
from links.codes import short_url_of
from links.fields import STORED, Section
from links.models import Link, LinkBan, LinkQuerySet
from links.operators import (
    affected_by_account,
    affected_by_host,
    ban_link,
    closed_links,
    find_links,
    inactive_links,
    lift_ban,
    record_ban,
    status_in_words,
)


def _columns_in(section: Section) -> list[str]:
    return [
        f"has_{field.column}" if field.is_secret else field.column
        for field in STORED
        if field.section is section
    ]


def _fieldsets() -> tuple[tuple[str | None, Any], ...]:
    further = [section for section in Section if section is not Section.DESTINATION]
    return (
        (None, {"fields": ["public_id", "short_url", "owner", "domain", "short_code", "state", "clicks"]}),
        ("Destination", {"fields": ["original_url", "destination", *_columns_in(Section.DESTINATION)]}),
        *((section.value, {"fields": _columns_in(section)}) for section in further),
        (None, {"fields": ["created_at", "updated_at"]}),
    )


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("off", "Deactivated by the owner"),
            (Status.SCHEDULED, "Not started"),
            (Status.EXPIRED, "Expired"),
            (Status.LIMIT_REACHED, "Limit of clicks reached"),
            ("banned", "Banned individually"),
            ("custom", "On a customer's domain"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Link]) -> QuerySet[Link]:
        if self.value() == "off":
            return inactive_links(queryset)
        value = self.value() or ""
        if value in (Status.SCHEDULED, Status.EXPIRED, Status.LIMIT_REACHED):
            return closed_links(cast(LinkQuerySet, queryset), Status(value))
        filters = {"banned": {"ban__isnull": False}, "custom": {"domain__isnull": False}}
        return queryset.filter(**filters.get(value, {}))


class LinkAdmin(OwnedAdmin):
    """Finds and bans links. Only owners edit links. Only the API deletes links, because it reserves their codes.

    The app of the redirects registers a subclass that simulates visits.
    """

    list_display = [
        *("id", "short_url", "short_title", "short_destination", "owner", "clicks", "state", "created_at"),
    ]
    # Imported links keep their creation times, so only the key has an index in the order of the whole list.
    sortable_by = ("id",)
    list_filter = [StateFilter]
    list_select_related = ["owner__account", "domain", "counter"]
    search_fields = ["public_id"]
    search_help_text = (
        "A whole code (current or former), owner's e-mail address or id; or part of a destination or title."
    )
    ordering = ["-id"]
    fieldsets = _fieldsets()
    actions = ["ban_links", "lift_bans", "ban_host"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        links = cast(LinkQuerySet, super().get_queryset(request))
        return links.with_bans().select_related(*self.list_select_related)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Link], search_term: str
    ) -> tuple[QuerySet[Link], bool]:
        return (find_links(queryset, search_term.strip()) if search_term.strip() else queryset), False

    @admin.display(description="short URL")
    def short_url(self, link: Link) -> str:
        """Opens the preview, which names the destination and counts no click."""
        url = short_url_of(link)
        return format_html('<a href="{}+" target="_blank" rel="noopener noreferrer">{}</a>', url, url)

    @admin.display(description="title")
    def short_title(self, link: Link) -> str:
        return one_line(link.title)

    @admin.display(description="destination")
    def short_destination(self, link: Link) -> str:
        return one_line(link.destination)

    @admin.display
    def clicks(self, link: Link) -> int:
        return link.counter.clicks

    @admin.display
    def state(self, link: Link) -> str:
        return status_in_words(link)

    @admin.display(boolean=True, description="password")
    def has_password(self, link: Link) -> bool:
        return link.password is not None

    @admin.action(
        permissions=["change"], description="Ban selected links; their owners cannot re-enable them"
    )
    def ban_links(self, request: HttpRequest, links: QuerySet[Link]) -> None:
        for link in links:
            ban_link(link=link)
            self.log_change(request, link, "Banned.")
        self.message_user(request, "Banned. The links stopped working on every host.")

    @admin.action(permissions=["change"], description="Lift the bans of selected links")
    def lift_bans(self, request: HttpRequest, links: QuerySet[Link]) -> None:
        lifted = list(links.filter(ban__isnull=False).select_related("ban"))
        for link in lifted:
            lift_ban(ban=link.ban)
            self.log_change(request, link, "Ban lifted.")
        self.message_user(
            request, f"{len(lifted)} lifted. See the list of bans for those of hosts and accounts."
        )

    @admin.action(permissions=["change"], description="Ban the destination's host, with all its links …")
    def ban_host(self, request: HttpRequest, links: QuerySet[Link]) -> HttpResponse | None:
        """Open the form to confirm the ban: many accounts may link to the same host."""
        hosts = {canonical_destination(link.destination).host.removesuffix(".") for link in links}
        if len(hosts) != 1:
            self.message_user(request, "Select links to one host.", messages.ERROR)
            return None
        return HttpResponseRedirect(f"{reverse('admin:bans_ban_add')}?{urlencode({'host': hosts.pop()})}")


@admin.register(Ban)
class CountingBanAdmin(BanAdmin):
    def affected_by(self, ban: Ban) -> Affected | None:
        return affected_by_account(ban.owner) if ban.owner else affected_by_host(ban.host or "")

    def save_model(self, request: HttpRequest, obj: Ban, form: BanForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        record_ban(obj, applies=True)

    def lift(self, ban: Ban) -> None:
        record_ban(ban, applies=False)
        super().lift(ban)


@admin.register(LinkBan)
class LinkBanAdmin(BanListAdmin):
    """Lists bans of single links. The list of links has the action that creates them."""

    list_display = ["address", "destination", "short_reason", "created"]
    sortable_by = ("created",)
    list_select_related = ["link__domain"]
    ordering = ["-id"]
    fields = ["link", "reason", "created_at"]

    @admin.display(description="ban of")
    def address(self, ban: LinkBan) -> str:
        return f"link {short_url_of(ban.link)}"

    @admin.display
    def destination(self, ban: LinkBan) -> str:
        return one_line(ban.link.destination)

    def lift(self, ban: LinkBan) -> None:
        lift_ban(ban=ban)
