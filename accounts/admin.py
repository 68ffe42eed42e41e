"""The admin's pages of accounts and workspaces."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.forms import CheckboxSelectMultiple
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join

from accounts import second_factor, services
from accounts import workspaces as workspace_services
from accounts.history import list_changes
from accounts.identities import disconnect_all
from accounts.models import Member, User, Workspace
from accounts.rights import Plan
from common.admin import OperatorAdmin
from common.ids import parse_public_id


class PasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg] # generic in the stubs only
    """An operator's change of an account's password, which the history of the account records."""

    @transaction.atomic
    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        services.record_new_password(user)
        return user


_SHOWN_CHANGES = 100


class OwnedAdmin(OperatorAdmin):
    """Pages of objects of a workspace. Their "History" also has what the customer has changed, by the API's names."""

    object_history_template = "admin/history_of_customer.html"

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        changes = (
            []
            if row is None
            else list_changes(row.owner, limit=_SHOWN_CHANGES, object_id=row.public_id).changes
        )
        return super().history_view(request, object_id, {**(extra_context or {}), "changes": changes})


PRIVILEGES = ("is_staff", "is_staff_by_provider", "is_superuser", "groups")


@admin.register(User)
class UserAdmin(OperatorAdmin, DjangoUserAdmin):  # type: ignore[type-arg] # generic in the stubs only
    """Plans and access. It never shows an API key: only its owner can read it.

    Accounts are disabled, not deleted: deleting one would release the codes of its printed links. Staff
    without superuser rights cannot give anyone more permissions, cannot change superusers, and cannot remove
    second factors or identities of staff. Nobody removes their own here: the pages under /accounts/ ask for the
    password first.
    """

    has_form = True
    change_password_form = PasswordForm
    list_display = ["email", "plan", "is_active", "is_staff", "key_of", "created"]
    sortable_by = ("email", "created")
    list_filter = ["plan", "is_active", "is_staff"]
    search_fields = ["email", "first_name", "last_name"]
    ordering = ["-id"]
    filter_horizontal = ()
    fieldsets = [
        (None, {"fields": ["public_id", "email", "password"]}),
        ("Person", {"fields": ["first_name", "last_name"]}),
        ("Access", {"fields": ["plan", "is_active", *PRIVILEGES]}),
        ("Dates", {"fields": ["created_at", "last_login", "key_of"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "password1", "password2", "plan"]})]
    actions = ["disable", "enable", "rotate_keys", "remove_second_factors", "remove_identities"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        users: QuerySet[User] = super().get_queryset(request)
        return users.select_related("api_key")

    @admin.display(description="API key created")
    def key_of(self, user: User) -> Any:
        return user.api_key.created_at if hasattr(user, "api_key") else None

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        read_only = ["public_id", "is_active", "created_at", "last_login", "key_of"]
        return read_only if request.user.is_superuser else [*read_only, *PRIVILEGES]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None, **kwargs: Any) -> Any:
        text = "What staff may do in the admin. Superusers may do everything."
        return db_field.formfield(widget=CheckboxSelectMultiple, help_text=text, required=False)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return DjangoUserAdmin.has_add_permission(self, request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed: bool = DjangoUserAdmin.has_change_permission(self, request, obj)
        return allowed and (obj is None or not obj.is_superuser or request.user.is_superuser)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return OperatorAdmin.lookup_allowed(self, lookup, value, request)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        if change:
            services.change_account(
                user=obj, changes={name: getattr(obj, name) for name in form.changed_data}
            )
        else:
            password = form.cleaned_data.get("password1") or None
            obj.pk = services.create_account(
                email=obj.email, password=password, plan=obj.plan, any_address=True
            ).user.pk
            obj.refresh_from_db()

    @admin.action(permissions=["change"], description="Disable selected accounts; their links keep working")
    def disable(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in self._changeable(request, users.exclude(email=request.user.get_username())):
            services.set_active(user=user, is_active=False)
            self.log_change(request, user, "Disabled.")

    @admin.action(permissions=["change"], description="Enable selected accounts")
    def enable(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in self._changeable(request, users):
            services.set_active(user=user, is_active=True)
            self.log_change(request, user, "Enabled.")

    @admin.action(
        permissions=["change"],
        description="Replace the API keys of selected accounts; the old keys become invalid at once",
    )
    def rotate_keys(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in self._changeable(request, users):
            services.rotate_api_key(user=user)
            self.log_change(request, user, "API key replaced.")

    @admin.action(
        permissions=["change"],
        description="Remove the second factors of selected accounts, whose owners have lost them",
    )
    def remove_second_factors(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in self._changeable(request, self._removable(request, users)):
            second_factor.remove_second_factors(user)
            self.log_change(request, user, "Second factors removed.")

    @admin.action(
        permissions=["change"],
        description="Disconnect selected accounts from single sign-on, and end their sessions",
    )
    def remove_identities(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in self._changeable(request, self._removable(request, users)):
            disconnect_all(user)
            self.log_change(request, user, "Disconnected from single sign-on.")

    def _removable(self, request: HttpRequest, users: QuerySet[User]) -> QuerySet[User]:
        others = users.exclude(email=request.user.get_username())
        return others if request.user.is_superuser else others.filter(is_staff=False)

    def _changeable(self, request: HttpRequest, users: QuerySet[User]) -> list[User]:
        allowed = [user for user in users if self.has_change_permission(request, user)]
        self.message_user(request, f"{len(allowed)} accounts changed.", messages.SUCCESS)
        return allowed


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
            workspace_services.change_plan(workspace=obj, plan=Plan(form.cleaned_data["team_plan"]))
