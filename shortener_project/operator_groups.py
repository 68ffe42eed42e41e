"""The ready-made groups of operators in the admin. Each start writes them, so that a new version can change them."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.db import transaction

_SEEN = """
    accounts.user accounts.workspace links.link links.linkban bans.ban domains.domain qrcodes.qrcode analytics.click
    admin.logentry
"""
_OF_THE_HOST = "analytics.segment analytics.deadletter"


def _view(models: str) -> set[str]:
    return {model.replace(".", ".view_") for model in models.split()}


GROUPS = {
    # Accounts and plans, second factors, DNS checks.
    "Support": _view(_SEEN) | {"accounts.change_user", "accounts.change_workspace", "domains.change_domain"},
    # Bans of links, hosts and workspaces.
    "Abuse": _view(_SEEN) | {"links.change_link", "links.delete_linkban", "bans.add_ban", "bans.delete_ban"},
    "Read-only": _view(_SEEN) | _view(_OF_THE_HOST),
}


def write_operator_groups() -> None:
    """Create the groups, and give each its permissions and no others. The migrations have created the permissions."""
    permissions = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.values_list("pk", "content_type__app_label", "codename")
    }
    with transaction.atomic():
        for name, codes in GROUPS.items():
            group, _ = Group.objects.get_or_create(name=name)
            group.permissions.set(permissions[code] for code in codes)
