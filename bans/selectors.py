from __future__ import annotations

from typing import NamedTuple

from django.db import connection

from bans.models import Ban


class Affected(NamedTuple):
    """The links that a ban would block, and the accounts that own them. ``is_complete``: there are no more."""

    links: int
    accounts: int
    is_complete: bool = True


def is_host_banned(url: str) -> bool:
    """Whether a ban applies to the host of a canonical URL, or to a domain above it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT bans_is_host_banned(%s)", [url])
        [(is_banned,)] = cursor.fetchall()
    return bool(is_banned)


def is_owner_banned(owner_id: int) -> bool:
    """Whether a ban applies to all links of a workspace."""
    return Ban.objects.filter(owner_id=owner_id).exists()
