"""What a member may do in a workspace."""

from __future__ import annotations

from django.db.models import TextChoices


class Role(TextChoices):
    """Each role includes those before it."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"
    OWNER = "owner", "Owner"

    def includes(self, other: str) -> bool:
        return _ORDER[self] >= _ORDER[other]


_ORDER: dict[str, int] = {role: position for position, role in enumerate(Role)}
