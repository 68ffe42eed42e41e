"""Base classes for the admin pages of all apps: cheap lists, and writes through services only."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten_fieldsets
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.text import Truncator

# Stop counting rows here, so that a page costs the same however many rows there are.
COUNT_LIMIT = 10_000
_LINE_CHARACTERS = 60


def one_line(text: str | None) -> str:
    """The beginning of a stored text for a cell of a list. The cell's tooltip has the whole text.

    `<bdi>` keeps characters that change the direction of text within the cell.
    """
    whole = " ".join((text or "").split())
    return format_html('<bdi title="{}">{}</bdi>', whole, Truncator(whole).chars(_LINE_CHARACTERS))


class CappedPaginator(Paginator):  # type: ignore[type-arg] # generic in the stubs only
    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by().values("pk")[:COUNT_LIMIT].count()


class PageFirstPaginator(CappedPaginator):
    """A paginator that finds the keys of a page before joining anything. For tables with an index on the key."""

    def page(self, number: Any) -> Page:  # type: ignore[type-arg] # as above
        page = super().page(number)
        rows = cast("QuerySet[Any]", self.object_list)
        page.object_list = rows.filter(pk__in=cast("QuerySet[Any]", page.object_list).values("pk"))
        return page


class OperatorAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic in the stubs only
    """A read-only list with actions instead of a form, on the selected rows or on the open row.

    Fields are read-only unless a subclass overrides this; rows cannot be added or deleted. A list can be sorted by the
    columns in ``sortable_by``: each needs an index that delivers the first page in this order.
    """

    paginator: ClassVar[type[Paginator]] = PageFirstPaginator  # type: ignore[type-arg] # as above
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    sortable_by: ClassVar[tuple[str, ...]] = ()
    change_form_template = "admin/with_actions.html"
    has_form = False

    @admin.display(description="created", ordering="pk")
    def created(self, row: Any) -> Any:
        """The creation time of rows that are stored as they are created: their keys have the same order."""
        return row.created_at

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields or self.fields or flatten_fieldsets(self.fieldsets or ())

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only lookups that the filters offer: others reveal columns or take long to search."""
        filters = self.get_list_filter(request)
        offered = [item if isinstance(item, str) else item.parameter_name for item in filters]  # type: ignore[union-attr] # no pairs
        return any(lookup == name or lookup.startswith(f"{name}__") for name in offered)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Do nothing: submitting a form of read-only fields must not write old values back."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        actions = self.get_actions(request) if object_id else {}
        action = actions.get(request.POST.get("act", ""))
        if object_id and request.method == "POST" and action is not None:
            row = self.get_object(request, object_id)
            rows = self.get_queryset(request).filter(pk=row.pk if row else None)
            response: Any = action[0](self, request, rows)
            return response or HttpResponseRedirect(request.get_full_path())
        buttons = [
            (name, label.replace(" selected", "")) for _, name, label in filter(None, actions.values())
        ]
        context = {"buttons": buttons, "show_save": self.has_form, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *location: Any
    ) -> HttpResponse | None:
        if request.POST.get("select_across", "0") != "0":
            self.message_user(
                request,
                "Select rows page by page; an action cannot apply to all pages at once.",
                messages.ERROR,
            )
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, *location)


class ReadOnlyAdmin(OperatorAdmin):
    """An admin page without any write permission."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
