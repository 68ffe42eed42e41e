"""Recognises requests on the internal listener, which only the operator's programs can reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from common.http.client_address import Network, comes_straight_from, was_forwarded

# `mark_internal` sets this entry of the WSGI environment. No request header maps to this name.
INTERNAL = "shortener.internal"


def mark_internal(environ: dict[str, Any]) -> None:
    """Note in the WSGI environment whether the request arrived at the internal listener."""
    environ[INTERNAL] = _arrived_inside(environ)


def is_internal_address(server: Any) -> bool:
    """Whether ``server``, an address from getsockname(), belongs to the internal listener."""
    if isinstance(server, str):
        return server == str(settings.INTERNAL_LISTEN)
    return bool(server[1] == settings.INTERNAL_PORT)


def _arrived_inside(environ: Mapping[str, Any]) -> bool:
    """Nothing in the request counts: gunicorn takes SERVER_PORT from Host if the client came through a Unix socket, so
    its own socket decides.
    """
    if "gunicorn.socket" in environ:
        try:
            return is_internal_address(environ["gunicorn.socket"].getsockname())
        except OSError:  # closed
            return False
    # Other servers take a TCP listener's port from the listener. That of a Unix socket's client may come from Host.
    is_over_tcp = bool(settings.INTERNAL_PORT and environ.get("REMOTE_ADDR"))
    return is_over_tcp and environ.get("SERVER_PORT") == str(settings.INTERNAL_PORT)


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
