"""Moves the QR codes of moved links."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.dispatch import receiver

from accounts.caps import CapReached, sharing_workspaces
from accounts.models import Workspace
from links.bulk.moving import links_moved
from qrcodes.models import QrCode


@receiver(links_moved)
def move_qr_codes(*, source: Workspace, target: Workspace, links: list[int], **_: Any) -> None:
    """Raises CapReached. The sender has locked the links, and the count of the target's objects.

    The cap limits new codes and moved ones. An undeletion ignores the cap, so a workspace can be above it: links
    without QR codes can still move there.
    """
    moved = QrCode.objects.filter(link__in=links).update(owner=target)
    cap = settings.QR_CODES_PER_ACCOUNT
    if not moved or not cap:
        return
    counted = sharing_workspaces(target)
    if source.pk not in counted and QrCode.objects.filter(owner__in=counted)[: cap + 1].count() > cap:
        raise CapReached(cap, "QR codes")
