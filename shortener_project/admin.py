from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group

from common.admin import WatchedAdmin

# Powers are given to operators one by one.
admin.site.unregister(Group)


@admin.register(LogEntry)
class LogEntryAdmin(WatchedAdmin):
    """The audit trail: which operator did what to which, and when."""

    list_display = ["action_time", "user", "action_flag", "content_type", "object_repr", "change_message"]
    list_display_links = None
    list_filter = ["action_flag"]
    list_select_related = ["user", "content_type"]
    search_fields = ["user__email__exact", "object_repr__exact"]
    search_help_text = "An operator's e-mail, or the name of what was acted on, whole."
    ordering = ["-id"]
