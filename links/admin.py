from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from common.admin import OperatorAdmin
from common.destination_url import canonical_destination
from domains.addresses import short_url_of_host
from links import bans
from links.finding import find_links, switched_off, with_bans
from links.forms import BanForm
from links.models import Ban, Link


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("off", "Switched off by the owner"),
            ("banned", "Banned by itself"),
            ("custom", "On a customer's domain"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Link]) -> QuerySet[Link]:
        if self.value() == "off":
            return switched_off(queryset)
        filters = {"banned": {"ban__isnull": False}, "custom": {"domain__isnull": False}}
        return queryset.filter(**filters.get(self.value() or "", {}))


@admin.register(Link)
class LinkAdmin(OperatorAdmin):
    """For finding links and banning them. Owners edit; and deleting goes through the API, which holds codes."""

    list_display = ["__str__", "title", "destination", "owner", "domain", "clicks", "state", "created_at"]
    list_filter = [StateFilter]
    list_select_related = ["owner", "domain", "counter"]
    search_fields = ["public_id"]
    search_help_text = (
        "A code, present or former, an owner's e-mail or an id, whole; or a part of a destination or title."
    )
    ordering = ["-id"]
    fields = [
        *("public_id", "short_url", "owner", "domain", "short_code", "custom_code"),
        *("original_url", "destination", "title", "description", "tags", "utm"),
        *("state", "is_active", "expires_at", "has_password", "max_clicks", "clicks"),
        *("allowed_countries", "blocked_countries", "allowed_devices", "redirect_type"),
        *("created_at", "updated_at"),
    ]
    actions = ["ban_links", "lift_bans", "ban_host"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        return with_bans(super().get_queryset(request)).select_related(*self.list_select_related)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Link], search_term: str
    ) -> tuple[QuerySet[Link], bool]:
        return (find_links(queryset, search_term.strip()) if search_term.strip() else queryset), False

    @admin.display(description="short URL")
    def short_url(self, link: Link) -> str:
        return f"{short_url_of_host(link.domain.host if link.domain else None)}/{link}"

    @admin.display
    def clicks(self, link: Link) -> int:
        return link.counter.clicks

    @admin.display
    def state(self, link: Link) -> str:
        if link.banned:  # type: ignore[attr-defined] # of the queryset
            return "banned"
        return "on" if link.is_active else "off"

    @admin.display(boolean=True, description="password")
    def has_password(self, link: Link) -> bool:
        return link.password is not None

    @admin.action(
        permissions=["change"], description="Ban selected links: their owners cannot switch them on"
    )
    def ban_links(self, request: HttpRequest, links: QuerySet[Link]) -> None:
        for link in links:
            bans.ban_link(link=link)
            self.log_change(request, link, "Banned.")
        self.message_user(request, "Not followed any more, at once and everywhere.")

    @admin.action(permissions=["change"], description="Lift the bans of selected links")
    def lift_bans(self, request: HttpRequest, links: QuerySet[Link]) -> None:
        lifted = list(links.filter(ban__isnull=False).select_related("ban"))
        for link in lifted:
            bans.lift_ban(ban=link.ban)
            self.log_change(request, link, "Ban lifted.")
        self.message_user(request, f"{len(lifted)} lifted. Bans of hosts and accounts are among the bans.")

    @admin.action(permissions=["change"], description="Ban the destination's host, with all its links …")
    def ban_host(self, request: HttpRequest, links: QuerySet[Link]) -> HttpResponse | None:
        """Asks first: the host of one link may be everybody's."""
        hosts = {canonical_destination(link.destination).host.removesuffix(".") for link in links}
        if len(hosts) != 1:
            self.message_user(request, "Select links to one host.", messages.ERROR)
            return None
        return HttpResponseRedirect(f"{reverse('admin:links_ban_add')}?{urlencode({'host': hosts.pop()})}")


@admin.register(Ban)
class BanAdmin(OperatorAdmin):
    """Whoever deletes a ban lifts it."""

    form = BanForm
    has_form = True
    list_display = ["__str__", "owner", "link", "reason", "created_at"]
    list_select_related = ["owner", "link"]
    search_fields = ["host", "owner__email"]
    ordering = ["-id"]
    fields = ["host", "owner", "reason"]
    raw_id_fields = ["owner"]

    def get_readonly_fields(self, request: HttpRequest, obj: Ban | None = None) -> list[str]:
        return [] if obj is None else ["host", "owner", "link", "reason", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return admin.ModelAdmin.has_add_permission(self, request)

    def has_change_permission(self, request: HttpRequest, obj: Ban | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Ban | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def save_model(self, request: HttpRequest, obj: Ban, form: BanForm, change: bool) -> None:
        if obj.owner:
            ban = bans.ban_links_of(owner=obj.owner, reason=obj.reason)
        else:
            ban = bans.ban_host(host=obj.host or "", reason=obj.reason)
        obj.pk = ban.pk

    def delete_model(self, request: HttpRequest, obj: Ban) -> None:
        bans.lift_ban(ban=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Ban]) -> None:
        for ban in queryset:
            bans.lift_ban(ban=ban)
