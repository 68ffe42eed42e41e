from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request

from accounts.callers import account_of, workspace_of
from accounts.rights import Role
from analytics.report_mails import subscriptions
from analytics.report_mails.schema import describe_report_mails, report_mails
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.fields import Boolean
from common.rest.returns import returns


class ReportMailsSerializer(serializers.Serializer[Any]):
    returned = report_mails.names
    weekly = Boolean(required=False, help_text="A report of each week (UTC), on Monday.")
    monthly = Boolean(required=False, help_text="A report of each month (UTC), on the first of the next.")
    alerts = Boolean(required=False, help_text="Days with unusually many or few clicks.")


@describe_report_mails
class ReportMailViewSet(ApiViewSet):
    # They concern the mailbox of a person, so keys with scopes cannot call them.
    access = {"retrieve": Access(Role.VIEWER, None), "update": Access(Role.VIEWER, None)}
    bodies = {"update": ReportMailsSerializer}

    @returns(200, reportMails=report_mails)
    def retrieve(self, request: Request) -> dict[str, Any]:
        return _shown(subscriptions.chosen(workspace_of(request), account_of(request)))

    @returns(200, "Reports by mail updated successfully.", reportMails=report_mails)
    def update(self, request: Request) -> dict[str, Any]:
        choices = self.read_body()
        return _shown(subscriptions.choose(workspace_of(request), account_of(request), choices))


def _shown(choice: subscriptions.Choice) -> dict[str, Any]:
    return {"reportMails": {**report_mails(choice), "isAvailable": settings.SENDS_MAIL}}
