"""The fields of an import: those of a creation, and the link's codes, clicks and dates in its former service."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.http.short_urls import BASE_ID
from common.rest.fields import Boolean, DateTime, Integer, List, Text, choice_field
from links.bulk.serializers import BulkDeleteSerializer
from links.serializer_fields import InheritedCodeField
from links.serializers import ListFilters, NewLinkSerializer
from links.transfer.exports import ExportFormat
from links.transfer.import_layouts import AUTO, NAMES
from links.transfer.sealed_passwords import MAX_CELL, MAX_PASSPHRASE, MIN_PASSPHRASE

MAX_CLICKS = 1_000_000_000_000
MAX_ALIASES = 50


class ImportedLinkSerializer(NewLinkSerializer):
    customCode = InheritedCodeField(source="custom_code", required=False)
    shortCode = InheritedCodeField(source="short_code", required=False)
    aliases = List(child=InheritedCodeField(), required=False, max_length=MAX_ALIASES)
    hasPassword = Boolean(source="has_password", required=False)
    sealedPassword = Text(source="sealed_password", required=False, max_length=MAX_CELL)
    clickCount = Integer(source="clicks", required=False, min_value=0, max_value=MAX_CLICKS)
    createdAt = DateTime(source="created_at", required=False)


class ImportSerializer(serializers.Serializer[Any]):
    content = Text(help_text="The content of the file: CSV with a header row, JSON, or JSON Lines.")
    format = choice_field(
        source="layout",
        choices=[AUTO, *NAMES],
        default=AUTO,
        help_text="The service that exported the file; `own` is this service. Detected from the first row if omitted.",
    )
    domainId = Text(
        source="domain_id",
        required=False,
        allow_null=True,
        help_text=f"The `id` of the domain for all links; `{BASE_ID}` is the default domain. If omitted, a link stays"
        " on its domain if that is yours; otherwise it goes to the default domain.",
    )
    utmTemplateId = Text(
        source="utm_template_id",
        required=False,
        allow_null=True,
        help_text="The `_id` of a UTM template for all links.",
    )
    passphrase = Text(
        required=False,
        max_length=MAX_PASSPHRASE,
        help_text="Of a file with sealed passwords, from `POST /api/urls/sealed-export`.",
    )
    dryRun = Boolean(
        source="dry_run", default=True, help_text="Whether to only report the result of each row."
    )


class _WithFormat(serializers.Serializer[Any]):
    format = choice_field(
        source="file_format",
        choices=ExportFormat.values,
        default=ExportFormat.CSV.value,
        help_text="`csv` for spreadsheets, `jsonl` for programs: one object per line.",
    )


class ExportQuery(_WithFormat, ListFilters):
    """The links that match the filters of a list."""


class SealedExportSerializer(serializers.Serializer[Any]):
    passphrase = Text(
        min_length=MIN_PASSPHRASE,
        max_length=MAX_PASSPHRASE,
        help_text="Seals the passwords. Whoever imports the file needs it; the service does not keep it.",
    )


class SelectedExportSerializer(_WithFormat, BulkDeleteSerializer):
    """The links with the given ids."""
