from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from domains.models import Domain


@admin.register(Domain)
class DomainAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic in the stubs only
    list_display = ["host", "owner", "status", "created_at"]
    list_filter = ["status"]
    list_select_related = ["owner"]
    search_fields = ["host", "owner__email__exact"]
    readonly_fields = ["public_id", "owner", "domain", "subdomain", "host", "status", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Domain | None = None) -> bool:
        return False
