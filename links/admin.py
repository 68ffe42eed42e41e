from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from links.models import Link


@admin.register(Link)
class LinkAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic in the stubs only
    """For finding a link and switching it off. Owners edit; and deleting goes through the API, which holds codes."""

    list_display = ["__str__", "destination", "owner", "is_active", "created_at"]
    list_filter = ["is_active"]
    list_select_related = ["owner"]
    search_fields = ["short_code__exact", "custom_code__exact", "owner__email__exact"]
    search_help_text = "A short code, a custom code or an owner's e-mail, whole."
    show_full_result_count = False
    ordering = ["-id"]
    readonly_fields = ["public_id", "owner", "domain", "short_code", "custom_code", "destination", "title"]
    fields = [*readonly_fields, "is_active"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Link | None = None) -> bool:
        return False
