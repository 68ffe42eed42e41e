from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest

from accounts.models import User


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg] # generic in the stubs only
    """Plans and access. Keys are not shown here: their owner reads or replaces them.

    Accounts are disabled, not deleted: a deleted one would set the codes of its printed links free.
    """

    list_display = ["email", "plan", "is_active", "is_staff", "created_at"]
    list_filter = ["plan", "is_active", "is_staff"]
    search_fields = ["email", "first_name", "last_name"]
    ordering = ["-created_at"]
    readonly_fields = ["public_id", "created_at", "last_login"]
    filter_horizontal = ["user_permissions"]
    fieldsets = [
        (None, {"fields": ["public_id", "email", "password"]}),
        ("Person", {"fields": ["first_name", "last_name"]}),
        ("Access", {"fields": ["plan", "is_active", "is_staff", "is_superuser", "user_permissions"]}),
        ("Dates", {"fields": ["created_at", "last_login"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "password1", "password2", "plan"]})]

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False
