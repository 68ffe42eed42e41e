"""Deletions of links that cannot be undone, as after the days in which they can."""

from __future__ import annotations

from accounts.models import Workspace
from links.models import DeletedLink
from links.services import delete_link


def delete_finally(owner: Workspace, public_id: str) -> None:
    delete_link(owner=owner, public_id=public_id)
    DeletedLink.objects.filter(public_id=public_id).delete()
