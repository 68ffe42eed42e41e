from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import second_factor, services
from accounts.forms import PasswordForm
from accounts.identities import disconnect_all
from accounts.models import User
from accounts.workspaces.admin import WorkspaceAdmin  # noqa: F401 # Django finds admin pages in this module
from common.admin import OperatorAdmin

PRIVILEGES = ("is_staff", "is_staff_by_provider", "is_superuser", "user_permissions")


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
    filter_horizontal = ["user_permissions"]
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
