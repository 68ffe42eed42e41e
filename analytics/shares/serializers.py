from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from analytics.reports.periods import PERIODS
from analytics.shares.representations import share
from common.rest.fields import Boolean, DateTime, PublicIdField, Text, choice_field
from common.rest.unknown_fields import Closed
from links.routing.conditions import ZoneNameField

_password = partial(Text, min_length=1, max_length=128, style={"input_type": "password"}, allow_null=True)


class UpdateShareSerializer(Closed):
    default_error_messages = {"past": "Must be in the future."}
    returned = share.names
    period = choice_field(
        choices=PERIODS,
        required=False,
        allow_null=True,
        help_text="The period of the report. Null: that of the view, and of a link its whole lifetime.",
    )
    timezone = ZoneNameField(
        required=False,
        allow_null=True,
        help_text="The IANA time zone of the days. Null: that of the view, and of a link UTC.",
    )
    password = _password(required=False, help_text="Readers must enter it. Null: no password.")
    expiresAt = DateTime(
        source="expires_at", required=False, allow_null=True, help_text="The end of the share. Null: none."
    )
    noIndex = Boolean(
        source="no_index", required=False, help_text="Whether search engines are told to ignore the page."
    )

    viewId = PublicIdField(
        source="view_id", required=False, allow_null=True, help_text="As it is: it cannot be changed."
    )
    urlId = PublicIdField(
        source="url_id", required=False, allow_null=True, help_text="As it is: it cannot be changed."
    )

    def validate_expiresAt(self, value: datetime | None) -> datetime | None:  # noqa: N802 # the name of the field
        if value is not None and value <= timezone.now():
            self.fail("past")
        return value


class CreateShareSerializer(UpdateShareSerializer):
    default_error_messages = {"one": "Send either viewId or urlId."}

    viewId = PublicIdField(
        source="view_id",
        required=False,
        allow_null=True,
        help_text="A view with a `report`. Or send `urlId`.",
    )
    urlId = PublicIdField(
        source="url_id", required=False, allow_null=True, help_text="A link. Or send `viewId`."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs.get("view_id") is None) == (attrs.get("url_id") is None):
            message = serializers.ErrorDetail(str(self.error_messages["one"]), code="one_of")
            raise serializers.ValidationError({"viewId": message})
        return attrs
