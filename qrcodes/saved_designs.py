"""Creates, changes and deletes the saved designs of a workspace."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from accounts.caps import lock_count
from accounts.models import Workspace
from common.database import refusing
from common.errors import Conflict, FieldError, Forbidden, InvalidFields
from qrcodes.design import contrast_refusal
from qrcodes.models import SavedDesign
from qrcodes.selectors import get_design

MAX_DESIGNS = 50
# The constraint that keeps names unique.
_NAME = "qrdesign_name"


class TooManyDesigns(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_DESIGNS} saved designs. Delete one first."


class NameTaken(Conflict):
    code = "name_taken"
    message = "Another saved design of the workspace has this name."


def create_design(*, owner: Workspace, fields: dict[str, Any]) -> SavedDesign:
    """Raises TooManyDesigns or NameTaken, and then writes nothing."""
    with refusing(_NAME, NameTaken()), transaction.atomic():
        lock_count(owner)
        if SavedDesign.objects.filter(owner=owner).count() >= MAX_DESIGNS:
            raise TooManyDesigns
        _end_default(owner, fields)
        return SavedDesign.objects.create(owner=owner, **fields)


def update_design(*, owner: Workspace, public_id: str, changes: dict[str, Any]) -> SavedDesign:
    """Raises NotFound, InvalidFields or NameTaken, and then changes nothing."""
    with refusing(_NAME, NameTaken()), transaction.atomic():
        # The locks of a creation, in the same order.
        lock_count(owner)
        design = get_design(owner, public_id)
        _require_distinguishable(
            changes.get("foreground", design.foreground), changes.get("background", design.background)
        )
        _end_default(owner, changes)
        SavedDesign.objects.filter(pk=design.pk).update(**changes, updated_at=Now())
        return get_design(owner, public_id)


def delete_design(*, owner: Workspace, public_id: str) -> None:
    """Codes keep their look, because each has a copy of its design. Raises NotFound."""
    get_design(owner, public_id).delete()


def _require_distinguishable(foreground: str, background: str) -> None:
    """Raises InvalidFields."""
    if refusal := contrast_refusal(foreground, background):
        raise InvalidFields([FieldError("foregroundColor", "contrast", refusal)])


def _end_default(owner: Workspace, fields: dict[str, Any]) -> None:
    if fields.get("is_default"):
        SavedDesign.objects.filter(owner=owner, is_default=True).update(is_default=False)
