from __future__ import annotations

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group

from common.admin import ReadOnlyAdmin

# Their permissions are in the code: `shortener_project.operator_groups`.
admin.site.unregister(Group)
# Unregistered: an account has one e-mail address, and only its owner sees its second factors.
admin.site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken])


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """The audit trail: who did what, to which object, and when."""

    list_display = ["time", "user", "action_flag", "content_type", "object_repr", "change_message"]
    sortable_by = ("time",)
    list_display_links = None
    list_filter = ["action_flag"]
    list_select_related = ["user", "content_type"]
    search_fields = ["user__email__exact", "object_repr__exact"]
    search_help_text = "The full e-mail address of an operator, or the full name of an object."
    ordering = ["-id"]

    @admin.display(ordering="pk")
    def time(self, entry: LogEntry) -> datetime:
        return entry.action_time
