from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.fields import DestinationField, Text

# Longer than any name, as upper case and other spellings of letters may be, but not without end.
_MOST_CHARACTERS = 253


class ClaimSerializer(serializers.Serializer[Any]):
    domain = Text(characters=_MOST_CHARACTERS)
    subdomain = Text(required=False, allow_null=True, allow_blank=True, characters=_MOST_CHARACTERS)


class SettingsSerializer(serializers.Serializer[Any]):
    """What is left out stays as it is; null takes it away."""

    rootUrl = DestinationField(source="root_url", required=False, allow_null=True)
    notFoundUrl = DestinationField(source="not_found_url", required=False, allow_null=True)
    expiredUrl = DestinationField(source="expired_url", required=False, allow_null=True)
