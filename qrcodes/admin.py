from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from common.admin import WatchedAdmin
from links.finding import links_named
from qrcodes.models import QrCode


@admin.register(QrCode)
class QrCodeAdmin(WatchedAdmin):
    """For finding out what a printed code is; nothing of it can be changed."""

    list_display = ["content", "owner", "format", "size", "created_at"]
    list_filter = ["format"]
    list_select_related = ["owner"]
    search_fields = ["token"]
    search_help_text = (
        "What a reader reads, a link's code, the name of an image, or an owner's e-mail, whole."
    )
    ordering = ["-id"]
    exclude = ["logo", "digest"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[QrCode]:
        codes: QuerySet[QrCode] = super().get_queryset(request)
        return codes.defer("logo", "digest")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[QrCode], search_term: str
    ) -> tuple[QuerySet[QrCode], bool]:
        text = search_term.strip()
        if not text:
            return queryset, False
        if "@" in text:
            return queryset.filter(owner__email=text.lower()), False
        name = text.partition("?")[0].rpartition("/")[2]
        named = Q(token=name.partition(".")[0]) | Q(link__in=links_named(name))
        return queryset.filter(named), False
