"""Identifies the listener that accepted a connection."""

from __future__ import annotations

from typing import Any

from django.conf import settings


def is_internal(server: Any) -> bool:
    """Whether ``server``, an address from getsockname(), belongs to the internal listener."""
    if isinstance(server, str):
        return server == str(settings.INTERNAL_LISTEN)
    return bool(server[1] == settings.INTERNAL_PORT)
