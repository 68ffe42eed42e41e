"""Validation of the admin's forms."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.widgets import AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.forms import CharField, ModelForm

from bans.hosts import canonical_host
from common.errors import InvalidFields
from common.http.destination_url import MAX_RAW_LENGTH


class BanForm(ModelForm):  # type: ignore[type-arg] # generic in the stubs only
    # Longer than the column: a pasted URL is reduced to its host.
    host = CharField(
        max_length=MAX_RAW_LENGTH,
        required=False,
        widget=AdminTextInputWidget,
        help_text="A host name, an IP address or a URL. The ban includes all subdomains of the host.",
    )

    @property
    def subject(self) -> str:
        """Identifies what a valid form bans."""
        owner = self.cleaned_data["owner"]
        return str(owner.pk if owner else self.cleaned_data["host"])

    def clean_host(self) -> str | None:
        host = self.cleaned_data["host"]
        try:
            return canonical_host(host) if host else None
        except InvalidFields as error:
            raise ValidationError([field_error.message for field_error in error.errors]) from None

    def clean(self) -> dict[str, Any]:
        super().clean()
        fields = self.cleaned_data
        if not self.errors and bool(fields.get("host")) == bool(fields.get("owner")):
            raise ValidationError("Enter either a host or an account.")
        return fields
