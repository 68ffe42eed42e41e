from __future__ import annotations

from typing import Any

from allauth.account.fields import PasswordField
from django import forms
from django.core.exceptions import ValidationError

from accounts.mails import is_plain
from accounts.services import MAX_PASSWORD_CHARACTERS, UNUSUAL_ADDRESS


class _LowerCaseEmail(forms.EmailField):
    """In lower case before validation: some letters are longer in lower case."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).lower()


def _require_plain(email: str) -> None:
    if not is_plain(email):
        raise ValidationError(UNUSUAL_ADDRESS)


class Address(forms.Form):
    email = _LowerCaseEmail(
        validators=[_require_plain],
        label="Email",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class NewAccount(forms.Form):
    first_name = forms.CharField(label="First name", required=False, max_length=100)
    last_name = forms.CharField(label="Last name", required=False, max_length=100)
    password = PasswordField(
        label="Password", max_length=MAX_PASSWORD_CHARACTERS, autocomplete="new-password"
    )
    repeated = PasswordField(
        label="Password (again)", max_length=MAX_PASSWORD_CHARACTERS, autocomplete="new-password"
    )

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("password") != self.cleaned_data.get("repeated"):
            self.add_error("repeated", "The passwords differ.")
        return self.cleaned_data
