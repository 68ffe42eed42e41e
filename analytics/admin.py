from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from analytics.models import Click, DeadLetter, Kind, Segment
from analytics.segments import segment_path
from common.admin import COUNT_LIMIT, CappedPaginator, WatchedAdmin
from links.finding import links_named


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(str(value), label) for value, label in Kind.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Click]) -> QuerySet[Click]:
        kind = {str(value): value for value in Kind.values}.get(self.value() or "")
        return queryset if kind is None else queryset.filter(kind=kind)


class OpenFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "open"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("1", "Not finished")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Segment]) -> QuerySet[Segment]:
        return queryset.filter(finished_at=None) if self.value() else queryset


@admin.register(Click)
class ClickAdmin(WatchedAdmin):
    """The latest requests for one link. There is no index of all clicks, so none are shown until a link is named."""

    list_display = [
        *("time", "link_id", "kind", "reason", "country", "city"),
        *("device", "browser", "operating_system", "referrer", "scanned"),
    ]
    list_display_links = None
    paginator = CappedPaginator
    list_filter = [KindFilter]
    search_fields = ["link_id"]
    search_help_text = "The code or id of one link, whole."
    ordering = ["-time", "-id"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Click], search_term: str
    ) -> tuple[QuerySet[Click], bool]:
        found = links_named(search_term.strip())
        if len(found) > 1:
            self.message_user(request, "Several links have this code. Name one by its id.", messages.WARNING)
        if len(found) != 1:
            return queryset.none(), False
        return queryset.filter(link_id=found[0], time__gte=_since(found[0])), False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> None:
        """Nothing finds a single click but reading all."""


def _since(link_id: int) -> datetime:
    """No filter reads further back than to here, however many clicks there are."""
    clicks = Click.objects.filter(link_id=link_id).order_by("-time", "-id").values_list("time", flat=True)
    return next(iter(clicks[COUNT_LIMIT - 1 : COUNT_LIMIT]), datetime.min.replace(tzinfo=UTC))


@admin.register(Segment)
class SegmentAdmin(WatchedAdmin):
    """The journal, as far as the database knows it, and what of it still waits on the host that shows this."""

    list_display = ["id", "offset", "waiting", "finished_at"]
    list_display_links = None
    list_filter = [OpenFilter]
    ordering = ["-id"]

    @admin.display(description="waiting on this host, in bytes")
    def waiting(self, segment: Segment) -> int | None:
        try:
            size = segment_path(settings.CLICKS_DIR, segment.id).stat().st_size
        except FileNotFoundError:
            return None
        return max(0, size - segment.offset)


@admin.register(DeadLetter)
class DeadLetterAdmin(WatchedAdmin):
    """Records that could not be counted. What is in them is sealed, and is not shown."""

    list_display = ["created_at", "reason"]
    list_display_links = None
    ordering = ["-id"]
