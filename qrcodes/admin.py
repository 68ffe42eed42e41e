from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from common.admin import ReadOnlyAdmin, one_line
from links.operators import ids_of_links
from qrcodes.models import QrCode


@admin.register(QrCode)
class QrCodeAdmin(ReadOnlyAdmin):
    """Read-only, for identifying a printed code."""

    list_display = ["short_content", "owner", "format", "size", "created"]
    sortable_by = ("created",)
    list_filter = ["format"]
    list_select_related = ["owner__account"]
    search_fields = ["token"]
    search_help_text = "The whole content of a QR code, link code, image name or owner's e-mail address."
    ordering = ["-id"]
    exclude = ["logo", "digest"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[QrCode]:
        codes: QuerySet[QrCode] = super().get_queryset(request)
        return codes.defer("logo", "digest")

    @admin.display(description="content")
    def short_content(self, code: QrCode) -> str:
        return one_line(code.content)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[QrCode], search_term: str
    ) -> tuple[QuerySet[QrCode], bool]:
        text = search_term.strip()
        if not text:
            return queryset, False
        if "@" in text:
            return queryset.filter(owner__account__email=text.lower()), False
        name = text.partition("?")[0].rpartition("/")[2]
        named = Q(token=name.partition(".")[0]) | Q(link__in=ids_of_links(name))
        return queryset.filter(named), False
