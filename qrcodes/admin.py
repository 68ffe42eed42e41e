from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from qrcodes.models import QrCode


@admin.register(QrCode)
class QrCodeAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic in the stubs only
    """For finding out what a printed code is; nothing of it can be changed."""

    list_display = ["content", "owner", "format", "size", "created_at"]
    list_select_related = ["owner"]
    search_fields = ["content__exact", "token__exact", "owner__email__exact"]
    search_help_text = (
        "What a reader reads, the name of the image without its ending, or an owner's e-mail, whole."
    )
    show_full_result_count = False
    ordering = ["-id"]
    exclude = ["logo", "digest"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: QrCode | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: QrCode | None = None) -> bool:
        return False
