"""Copies links: a creation with the fields of another link."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.utils import timezone

from accounts.callers import require_scope
from accounts.models import User, Workspace
from accounts.rights import Scope
from common.http.short_urls import BASE_ID
from common.rest.unknown_fields import Handling
from links.models import Link
from links.representations import changeable_fields
from links.selectors import get_link, id_of
from links.serializers import DuplicateLinkSerializer
from links.services import create_link

# What belongs to one link only. The hash of the password is copied.
_NOT_COPIED = ("customCode", "externalId", "hasPassword", "isArchived")
# The client may send what the copy requires.
_SERIALIZER = DuplicateLinkSerializer()


def duplicate_link(
    *,
    owner: Workspace,
    public_id: str,
    creator: User | None,
    changes: Mapping[str, Any],
    sent: Collection[str],
) -> Link:
    """A new link with the settings of another one, except for the ``changes``.

    ``sent`` has their names in the API. Raises as `create_link` does, also for a stored value that is no longer
    accepted, NotFound, and ScopeRequired if the key may not read links.
    """
    require_scope(owner, Scope.URLS_READ)
    source = get_link(owner, id_of(owner, public_id))
    fields = {
        **changeable_fields(source),
        "originalUrl": source.original_url,
        "domainId": BASE_ID if source.domain is None else str(source.domain.public_id),
    }
    if source.expires_at is not None and source.expires_at <= timezone.now():
        # A copy is made to be used.
        del fields["startsAt"], fields["expiresAt"]
    if "originalUrl" in sent:
        # Otherwise the copy would not lead to it.
        del fields["targetUrl"]
    kept = {name: value for name, value in fields.items() if name not in (*_NOT_COPIED, *sent)}
    read, _ = Handling(is_strict=False).read(_SERIALIZER, kept)
    if "password" not in changes:
        read["password_hash"] = source.password
    return create_link(owner=owner, creator=creator, **{**read, **changes})
