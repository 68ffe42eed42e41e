from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from accounts.api_keys import MAX_GRACE_SECONDS
from accounts.models import MAX_KEY_NAME
from accounts.rights import Scope
from common.rest.fields import Boolean, DateTime, Integer, Name, Text
from domains.keys.representations import key_object


class _Expiry(DateTime):
    def to_internal_value(self, data: Any) -> Any:
        moment = super().to_internal_value(data)
        if moment <= timezone.now():
            raise serializers.ValidationError("Must be in the future.", code="past")
        return moment


def _scopes(**options: Any) -> serializers.ListField:
    child = serializers.ChoiceField(choices=Scope.values)
    return serializers.ListField(child=child, min_length=1, max_length=len(Scope), **options)


_DOMAIN = "The `_id` of a domain of the workspace. Null: any domain."


class CreateKeySerializer(serializers.Serializer[Any]):
    name = Name(max_length=MAX_KEY_NAME)
    scopes = _scopes()
    domainId = Text(required=False, allow_null=True, max_length=36, source="domain_id", help_text=_DOMAIN)
    onlyOwn = Boolean(required=False, source="only_own")
    expiresAt = _Expiry(required=False, allow_null=True, source="expires_at")


class UpdateKeySerializer(serializers.Serializer[Any]):
    """Clients may send back the whole object."""

    returned = key_object.names

    name = Name(max_length=MAX_KEY_NAME, required=False)
    scopes = _scopes(required=False)
    domainId = Text(required=False, allow_null=True, max_length=36, source="domain_id", help_text=_DOMAIN)
    onlyOwn = Boolean(required=False, source="only_own")
    expiresAt = DateTime(required=False, allow_null=True, source="expires_at")


class RotateKeySerializer(serializers.Serializer[Any]):
    graceSeconds = Integer(
        required=False,
        min_value=0,
        max_value=MAX_GRACE_SECONDS,
        source="grace_seconds",
        help_text="How long the former key keeps working. Default 0: it stops at once.",
    )
