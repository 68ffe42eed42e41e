from __future__ import annotations

from django.contrib.auth.forms import AdminPasswordChangeForm
from django.db import transaction

from accounts import services
from accounts.models import User


class PasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg] # generic in the stubs only
    """An operator's change of an account's password, which the history of the account records."""

    @transaction.atomic
    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        services.record_new_password(user)
        return user
