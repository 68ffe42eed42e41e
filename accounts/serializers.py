from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.representations import own_account
from accounts.second_factor import MAX_CHARACTERS
from common.rest.fields import Text


class LoginSerializer(serializers.Serializer[Any]):
    email = Text(max_length=254, style={"input_type": "email"})
    password = Text(max_length=128, style={"input_type": "password"})
    otp = Text(
        required=False,
        max_length=MAX_CHARACTERS,
        help_text="For accounts with a second factor: the code of the authenticator app, or a recovery code.",
    )


class RefreshSerializer(serializers.Serializer[Any]):
    refreshToken = Text(max_length=2000)


class ProfileSerializer(serializers.Serializer[Any]):
    """A client may send back the whole account: read-only fields are ignored, but not a different ``email``."""

    returned = own_account.names

    firstName = Text(source="first_name", required=False, allow_blank=True, max_length=100)
    lastName = Text(source="last_name", required=False, allow_blank=True, max_length=100)
    email = Text(
        required=False,
        max_length=254,
        style={"input_type": "email"},
        help_text="Only the current value is accepted.",
    )


class ChangePasswordSerializer(serializers.Serializer[Any]):
    currentPassword = Text(source="current_password", max_length=128, style={"input_type": "password"})
    newPassword = Text(
        source="new_password",
        max_length=128,
        style={"input_type": "password"},
        help_text="At least 10 characters, not a common password, and not similar to the account's name or e-mail.",
    )
