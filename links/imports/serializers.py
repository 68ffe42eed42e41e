"""What an import may say of a link: all that a creation may, and what it was elsewhere."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.fields import Boolean, DateTime, Integer, Text
from links.imports.layouts import AUTO, NAMES
from links.serializers import CodeField, CreateLinkSerializer

MAX_CLICKS = 1_000_000_000_000
MAX_ALIASES = 50


class ImportedLinkSerializer(CreateLinkSerializer):
    shortCode = CodeField(source="short_code", required=False)
    aliases = serializers.ListField(child=CodeField(), required=False, max_length=MAX_ALIASES)
    isActive = Boolean(source="is_active", required=False)
    hasPassword = Boolean(source="has_password", required=False)
    clickCount = Integer(source="clicks", required=False, min_value=0, max_value=MAX_CLICKS)
    createdAt = DateTime(source="created_at", required=False)


class ImportSerializer(serializers.Serializer[Any]):
    content = Text()
    format = serializers.ChoiceField(source="layout", choices=[AUTO, *NAMES], default=AUTO)
    domainId = Text(source="domain_id", required=False, allow_null=True)
    dryRun = Boolean(source="dry_run", default=True)
