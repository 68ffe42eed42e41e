from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.fields import Text


class LoginSerializer(serializers.Serializer[Any]):
    email = Text(max_length=254)
    password = Text(max_length=128)


class RefreshSerializer(serializers.Serializer[Any]):
    refreshToken = Text(max_length=2000)
