"""Keys with scopes. A key is never cached, so each change is in force everywhere on return.

`domains.keys` is their API.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts import api_keys
from accounts.caps import lock_count
from accounts.history import authored_transaction
from accounts.mails import notify
from accounts.models import Member, ScopedKey, User, Workspace
from accounts.rights import WORKSPACE_SCOPES, Role, bits_of, scopes_of
from accounts.sessions.browser import require_recent_login
from common.errors import FieldError, Forbidden, InvalidFields, NotFound
from common.pages import Page

# For each member of a workspace. One member could use up a limit of the whole workspace.
MAX_KEYS = 50
MAX_GRACE_SECONDS = 7 * 24 * 60 * 60


class TooManyKeys(Forbidden):
    code = "quota_exceeded"
    message = f"A member may have at most {MAX_KEYS} keys in a workspace. Delete one first."


class KeyOfAnother(Forbidden):
    code = "key_of_another"
    message = "Only the member who created a key can change or rotate it. You can delete it."


class NewKey(NamedTuple):
    """``text`` is the key itself. It is not stored."""

    key: ScopedKey
    text: str


def create_key(
    *,
    workspace: Workspace,
    creator: User,
    name: str,
    scopes: list[str],
    domain_id: int | None = None,
    only_own: bool = False,
    expires_at: datetime | None = None,
) -> NewKey:
    """``domain_id`` is the primary key of a domain that the caller has locked.

    Raises InvalidFields, TooManyKeys, or NotFound if the creator is no longer a member.
    """
    text = api_keys.new_key(api_keys.SCOPED_PREFIX)
    key = ScopedKey(
        workspace=workspace,
        user=creator,
        name=name,
        scopes=bits_of(scopes),
        domain_id=domain_id,
        only_own=only_own,
        expires_at=expires_at,
        digest=api_keys.digest(text),
    )
    _refuse_contradiction(key)
    with authored_transaction():
        # The removal of a member takes the same lock.
        lock_count(workspace)
        if not Member.objects.filter(workspace=workspace, user=creator).exists():
            raise NotFound("Workspace not found.")
        if ScopedKey.objects.filter(workspace=workspace, user=creator).count() >= MAX_KEYS:
            raise TooManyKeys
        key.save(force_insert=True)
        notify(creator, "New API key", "A new API key was created in your account.")
    key.refresh_from_db(fields=["created_at"])
    return NewKey(key, text)


def change_key(
    *,
    workspace: Workspace,
    account: User,
    role: Role,
    public_id: UUID,
    changes: Mapping[str, Any],
    session: int,
) -> ScopedKey:
    """``changes`` are attributes of the key, with the names of its scopes. The caller has locked a new domain.

    Raises NotFound, KeyOfAnother or InvalidFields, and then changes nothing; so does ConfirmationRequired, if the key
    could do more afterwards and the user of this session has not just proved who they are.
    """
    fields = {**changes, "scopes": bits_of(changes["scopes"])} if "scopes" in changes else dict(changes)
    with authored_transaction():
        key = _lock_own(workspace, account, role, public_id)
        former = copy(key)
        for name, value in fields.items():
            setattr(key, name, value)
        _refuse_contradiction(key)
        if _allows_more(key, former):
            require_recent_login(session)
        if fields:
            key.save(update_fields=list(fields))
    return key


def rotate_key(
    *, workspace: Workspace, account: User, role: Role, public_id: UUID, grace_seconds: int
) -> NewKey:
    """Replace the key. The former one works for ``grace_seconds`` more; the key before that one stops working at once.

    Raises NotFound or KeyOfAnother.
    """
    text = api_keys.new_key(api_keys.SCOPED_PREFIX)
    with authored_transaction():
        key = _lock_own(workspace, account, role, public_id)
        key.previous_digest = key.digest if grace_seconds else None
        key.digest = api_keys.digest(text)
        ScopedKey.objects.filter(pk=key.pk).update(
            digest=key.digest,
            previous_digest=key.previous_digest,
            previous_until=Now() + timedelta(seconds=grace_seconds) if grace_seconds else None,
        )
        key.refresh_from_db(fields=["previous_until"])
        notify(account, "API key replaced", "An API key of your account was replaced.")
    return NewKey(key, text)


def delete_key(*, workspace: Workspace, account: User, role: Role, public_id: UUID) -> None:
    """Raises NotFound."""
    with authored_transaction():
        deleted, _ = visible_keys(workspace, account, role).filter(public_id=public_id).delete()
    if not deleted:
        raise NotFound("Key not found.")


def _lock_own(workspace: Workspace, account: User, role: Role, public_id: UUID) -> ScopedKey:
    keys_seen = visible_keys(workspace, account, role).select_for_update(of=("self",))
    key = keys_seen.filter(public_id=public_id).first()
    if key is None:
        raise NotFound("Key not found.")
    if key.user_id != account.pk:
        raise KeyOfAnother
    return key


def _allows_more(key: ScopedKey, former: ScopedKey) -> bool:
    """Whether the key has a further scope, a limit less or another domain, or lasts longer."""
    return bool(
        key.scopes & ~former.scopes
        or (former.domain_id is not None and key.domain_id != former.domain_id)
        or (former.only_own and not key.only_own)
        or (former.expires_at is not None and (key.expires_at is None or key.expires_at > former.expires_at))
    )


def _refuse_contradiction(key: ScopedKey) -> None:
    """A key that is limited to some links cannot have a scope that concerns the whole workspace."""
    refused = [scope for scope in scopes_of(key.scopes) if scope in WORKSPACE_SCOPES]
    if refused and (key.domain_id is not None or key.only_own):
        message = f"A key with domainId or onlyOwn cannot have the scope {refused[0]}."
        raise InvalidFields([FieldError("scopes", "limited", message)])


def list_keys(workspace: Workspace, account: User, role: Role, *, page: int, limit: int) -> Page[ScopedKey]:
    """The newest first; empty beyond the last page."""
    keys, offset = visible_keys(workspace, account, role), (page - 1) * limit
    return Page(list(keys[offset : offset + limit]), keys.count())


def visible_keys(workspace: Workspace, account: User, role: Role) -> QuerySet[ScopedKey]:
    """The account's own keys of this workspace, newest first. An admin sees those of all members."""
    keys = ScopedKey.objects.filter(workspace=workspace).select_related("user").order_by("-id")
    return keys if role.includes(Role.ADMIN) else keys.filter(user=account)
