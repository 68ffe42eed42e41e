"""Recognises requests on the internal listener, which only the operator's programs can reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common.http.client_address import Network, comes_straight_from, was_forwarded

# The web worker sets this entry. No request header maps to this name.
INTERNAL = "shortener.internal"


def is_internal(meta: Mapping[str, Any]) -> bool:
    return meta.get(INTERNAL) is True


def is_internal_client(meta: Mapping[str, Any], networks: Sequence[Network]) -> bool:
    """Whether the request arrived at the internal listener, directly from one of these networks or through a Unix
    socket. Unix socket clients have no address; file permissions control their access.
    """
    if not is_internal(meta):
        return False
    if not meta.get("REMOTE_ADDR"):
        return not was_forwarded(meta)
    return comes_straight_from(meta, networks)
