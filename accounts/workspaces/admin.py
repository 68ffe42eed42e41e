"""The admin's page of workspaces, and the plans of teams."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.html import format_html_join

from accounts.models import Member, Workspace
from accounts.rights import Plan
from accounts.workspaces import services
from common.admin import OperatorAdmin
from common.ids import parse_public_id

_SHOWN_MEMBERS = 50
_MEMBERS = (
    Member.objects.filter(workspace=OuterRef("pk"))
    .values("workspace")
    .annotate(number=Count("user"))
    .values("number")
)


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("team", "Teams"), ("personal", "Personal")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Workspace]) -> QuerySet[Workspace]:
        kind = self.value()
        return (
            queryset if kind not in {"team", "personal"} else queryset.filter(account__isnull=kind == "team")
        )


@admin.register(Workspace)
class WorkspaceAdmin(OperatorAdmin):
    """The plan of a team. A personal workspace has that of its account, and owners manage the members."""

    has_form = True
    list_display = ["__str__", "kind", "shown_plan", "members", "created_at"]
    list_filter = [KindFilter]
    list_select_related = ["account"]
    # Searched by `get_search_results`.
    search_fields = ["name"]
    search_help_text = "The id, a member's whole e-mail address, or part of a team's name."
    ordering = ["-id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        workspaces: QuerySet[Workspace] = super().get_queryset(request)
        number = Coalesce(Subquery(_MEMBERS, output_field=IntegerField()), 0)
        return workspaces.annotate(number_of_members=number)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Workspace], search_term: str
    ) -> tuple[QuerySet[Workspace], bool]:
        text = search_term.strip()
        identifier = parse_public_id(text)
        if not text:
            return queryset, False
        if identifier is not None:
            return queryset.filter(public_id=identifier), False
        if "@" in text:
            memberships = Member.objects.filter(user__email=text.lower())
            return queryset.filter(pk__in=memberships.values("workspace")), False
        return queryset.filter(account=None, name__icontains=text), False

    @admin.display(description="kind")
    def kind(self, workspace: Workspace) -> str:
        return "Personal" if workspace.is_personal else "Team"

    @admin.display(description="plan")
    def shown_plan(self, workspace: Workspace) -> str:
        return workspace.plan

    @admin.display(description="members")
    def members(self, workspace: Any) -> int:
        return int(workspace.number_of_members)

    @admin.display(description="members")
    def shown_members(self, workspace: Workspace) -> str:
        members = (
            Member.objects.filter(workspace=workspace)
            .select_related("user")
            .order_by("created_at", "user_id")
        )
        return format_html_join(
            "\n", "{}: {}<br>", ((member.user.email, member.role) for member in members[:_SHOWN_MEMBERS])
        )

    def get_fields(self, request: HttpRequest, obj: Workspace | None = None) -> Any:
        plan = "shown_plan" if obj is None or obj.is_personal else "team_plan"
        return ["public_id", "name", "account", plan, "members", "shown_members", "created_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Workspace | None = None) -> list[str]:
        return [name for name in self.get_fields(request, obj) if name != "team_plan"]

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest | None, **kwargs: Any) -> Any:
        """No empty choice: a team always has a plan."""
        return db_field.formfield(required=True, choices=Plan.choices, **kwargs)

    def save_model(self, request: HttpRequest, obj: Workspace, form: Any, change: bool) -> None:
        if "team_plan" in form.changed_data:
            services.change_plan(workspace=obj, plan=Plan(form.cleaned_data["team_plan"]))
