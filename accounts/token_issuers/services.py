"""Creates, changes and lists the keys as which tokens of issuers act. `accounts.api_keys` deletes them as others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet

from accounts import api_keys
from accounts.models import ScopedKey, User, Workspace
from accounts.rights import Role, bits_of
from accounts.token_issuers.issuer_keys import IssuerFailed, fetch_keys
from common.database import constraint_of
from common.errors import Conflict, FieldError, InvalidFields, NotFound
from common.pages import Page, Window, page_of, rows_of

UNREACHABLE = "The keys of the issuer cannot be read: {reason} You can send them as jwks instead."
SAME_TOKENS = "Another token issuer of the workspace has the same issuer, audience and subject."


def check_issuer(fields: Mapping[str, Any]) -> None:
    """Read the keys of the issuer, if it publishes them. Raises InvalidFields. Call it outside transactions.

    They are not kept: nobody makes a process forget the keys of others by issuers that no workspace accepts.
    """
    if fields.get("jwks") is not None:
        return
    try:
        fetch_keys(fields["issuer"])
    except IssuerFailed as error:
        message = UNREACHABLE.format(reason=error)
        raise InvalidFields([FieldError("issuer", "unreachable", message)]) from None


def create_issuer(
    *,
    workspace: Workspace,
    creator: User,
    name: str,
    scopes: list[str],
    issuer: str,
    audience: str,
    subject: str,
    jwks: dict[str, Any] | None = None,
    domain_id: int | None = None,
    only_own: bool = False,
    expires_at: datetime | None = None,
) -> ScopedKey:
    """The key belongs to the workspace of a team, and in a personal one to its account.

    ``domain_id`` is the primary key of a domain that the caller has locked. Raises as `api_keys.create_key`, or
    Conflict.
    """
    key = ScopedKey(
        workspace=workspace,
        user=creator if workspace.is_personal else None,
        name=name,
        scopes=bits_of(scopes),
        domain_id=domain_id,
        only_own=only_own,
        expires_at=expires_at,
        issuer=issuer,
        audience=audience,
        subject=subject,
        jwks=jwks,
    )
    with _unlike_others():
        api_keys.add_key(key, creator, Role.ADMIN)
    return key


def change_issuer(**arguments: Any) -> ScopedKey:
    """As `api_keys.change_key`. Raises NotFound for another key, or Conflict."""
    get_issuer(arguments["workspace"], arguments["account"], arguments["role"], arguments["public_id"])
    with _unlike_others():
        return api_keys.change_key(**arguments)


def delete_issuer(*, workspace: Workspace, account: User, role: Role, public_id: UUID) -> None:
    """Raises NotFound."""
    get_issuer(workspace, account, role, public_id)
    api_keys.delete_key(workspace=workspace, account=account, role=role, public_id=public_id)


def get_issuer(workspace: Workspace, account: User, role: Role, public_id: UUID) -> ScopedKey:
    """Raises NotFound."""
    key = _issuers(workspace, account, role).filter(public_id=public_id).first()
    if key is None:
        raise NotFound("Token issuer not found.")
    return key


def list_issuers(workspace: Workspace, account: User, role: Role, *, window: Window) -> Page[ScopedKey]:
    """The newest first; empty beyond the last page."""
    keys = _issuers(workspace, account, role)
    return page_of(rows_of(keys, window, "-id"), window, keys.count(), lambda key: (key.pk,))


def _issuers(workspace: Workspace, account: User, role: Role) -> QuerySet[ScopedKey]:
    return api_keys.visible_keys(workspace, account, role).filter(issuer__isnull=False)


@contextmanager
def _unlike_others() -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        if constraint_of(error) != "scopedkey_issuer":
            raise
        raise Conflict(SAME_TOKENS) from None
