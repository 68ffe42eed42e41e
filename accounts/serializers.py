from __future__ import annotations

from typing import Any

from rest_framework import serializers

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
