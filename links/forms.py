"""What an operator writes into the admin."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.forms import ModelForm

from common.errors import InvalidFields
from links import bans


class BanForm(ModelForm):  # type: ignore[type-arg] # generic in the stubs only
    def clean_host(self) -> str | None:
        given = self.cleaned_data["host"]
        try:
            return bans.banned_host(given) if given else None
        except InvalidFields as error:
            raise ValidationError([each.message for each in error.errors]) from None

    def clean(self) -> dict[str, Any]:
        super().clean()
        given = self.cleaned_data
        if not self.errors and bool(given.get("host")) == bool(given.get("owner")):
            raise ValidationError("Name a host or an account, and not both.")
        return given
