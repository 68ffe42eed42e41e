"""Keys of programs: the main key of an account, and keys with scopes.

A main key is ``sl_live_``, 32 base62 characters (190 bits) and 6 base62 characters of CRC32. It is stored as a digest
for the look-up, and sealed for reading. Secret scanners find leaked keys by the prefix, and the checksum rejects
mistyped keys without a database query.

Keys with scopes begin with ``sl_key_``, so the prefix determines the table to look them up in. `domains.views` has
their API. A key is never cached, so each change is in force everywhere on return.
"""

from __future__ import annotations

import hashlib
import re
import string
import zlib
from collections.abc import Mapping
from copy import copy
from datetime import datetime, timedelta
from secrets import choice
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet, TextChoices
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy

from accounts.caps import lock_count
from accounts.history import authored_transaction
from accounts.mails import notify
from accounts.models import ScopedKey, User, Workspace
from accounts.rights import (
    ACCOUNT_KEY_PREFIX,
    KEY_PREFIXES,
    MEMBER_SCOPES,
    SCOPED_KEY_PREFIX,
    WORKSPACE_SCOPES,
    Role,
    bits_of,
    scopes_of,
)
from accounts.sessions.lifecycle import require_recent_login
from accounts.workspaces import require_member
from common import secrets
from common.database import prepared_cursor, read_first
from common.errors import Conflict, FieldError, Forbidden, InvalidFields, NotFound
from common.pages import Page, Window, page_of, rows_of

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FORM = re.compile(rf"(?:{'|'.join(KEY_PREFIXES)})[0-9A-Za-z]{{38}}", re.ASCII)
_SEALING = "api-key-sealing"


def new_key(prefix: str = ACCOUNT_KEY_PREFIX) -> str:
    body = prefix + "".join(choice(_ALPHABET) for _ in range(32))
    return body + _checksum(body)


def is_well_formed(key: str) -> bool:
    return _FORM.fullmatch(key) is not None and _checksum(key[:-6]) == key[-6:]


def digest(key: str) -> bytes:
    """SHA-256 without a salt: the key is random, so it cannot be guessed, and the digest can be indexed."""
    return hashlib.sha256(key.encode()).digest()


def seal(key: str, account: str, secret: str) -> bytes:
    """Bound to the account: a sealed key copied to another row does not open."""
    return secrets.seal(key.encode(), purpose=_SEALING, context=account.encode(), secret=secret)


def unseal(sealed: bytes, account: str, secret_keys: list[str]) -> str | None:
    """The key, or None if none of the installation's secrets, current or former, opens the copy."""
    opened = secrets.unseal(sealed, purpose=_SEALING, context=account.encode(), secrets=secret_keys)
    return None if opened is None else opened.decode()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(6):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


def read_row(query: str, key: str, **values: Any) -> tuple[Any, ...] | None:
    """The row that the query finds by ``digest``, or None. A malformed key costs no query."""
    if not is_well_formed(key):
        return None
    key_digest = digest(key)

    def read() -> tuple[Any, ...] | None:
        # The count of the request, and the time of use.
        with prepared_cursor(may_lose=True) as cursor:
            cursor.execute(query, {"digest": key_digest, **values})
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    return read_first(read)


# What decides which tokens act as a key.
TOKEN_FIELDS = ("issuer", "audience", "subject", "jwks")
# For each member of a workspace, and for the workspace's own. One member could use up a limit of all.
MAX_KEYS = 50
MAX_GRACE_SECONDS = 7 * 24 * 60 * 60


class TooManyKeys(Forbidden):
    code = "quota_exceeded"
    message = f"A member may have at most {MAX_KEYS} keys in a workspace. Delete one first."


class TooManyWorkspaceKeys(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_KEYS} keys of its own. Delete one first."


class KeyOfAnother(Forbidden):
    code = "key_of_another"
    message = "Only the member to whom a key belongs can change or rotate it. You can delete it."


class KeyOfIssuer(Conflict):
    code = "key_of_issuer"
    message = "Tokens of an issuer act as this key, so it has no text that could be replaced."


class KeyOwner(TextChoices):
    """To whom a key belongs: with whose rights it acts, and with what it ends."""

    MEMBER = "member", "The member who creates it"
    WORKSPACE = "workspace", "The workspace"


PERSONAL_WORKSPACE = FieldError(
    "belongsTo", "personal", "A personal workspace has no keys of its own: it ends with your account."
)
_CREATED = gettext_lazy("A new API key was created in your account.")
_CREATED_FOR_WORKSPACE = gettext_lazy("With your account, an API key of a workspace was created.")
_REPLACED = gettext_lazy("An API key of your account was replaced.")
_REPLACED_OF_WORKSPACE = gettext_lazy("With your account, an API key of a workspace was replaced.")


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
    belongs_to: KeyOwner = KeyOwner.MEMBER,
) -> NewKey:
    """``domain_id`` is the primary key of a domain that the caller has locked.

    Raises InvalidFields, TooManyKeys, NotFound if the creator is no longer a member, or for a key of
    the workspace, TooManyWorkspaceKeys or RoleRequired.
    """
    is_members = belongs_to == KeyOwner.MEMBER
    if workspace.is_personal and not is_members:
        raise InvalidFields([PERSONAL_WORKSPACE])
    text = new_key(SCOPED_KEY_PREFIX)
    key = ScopedKey(
        workspace=workspace,
        user=creator if is_members else None,
        name=name,
        scopes=bits_of(scopes),
        domain_id=domain_id,
        only_own=only_own,
        expires_at=expires_at,
        digest=digest(text),
    )
    add_key(key, creator, Role.VIEWER if is_members else Role.ADMIN)
    return NewKey(key, text)


def add_key(key: ScopedKey, creator: User, role: Role) -> None:
    """Insert the key. ``role`` is the least one for it. Raises as `create_key`, or IntegrityError."""
    _refuse_contradiction(key)
    is_members = key.user is not None
    with authored_transaction():
        # The removal of a member takes the same lock.
        lock_count(key.workspace)
        require_member(key.workspace, creator, role)
        if ScopedKey.objects.filter(workspace=key.workspace, user=key.user).count() >= MAX_KEYS:
            raise TooManyKeys if is_members else TooManyWorkspaceKeys
        key.save(force_insert=True)
        notify(creator, gettext_lazy("New API key"), _CREATED if is_members else _CREATED_FOR_WORKSPACE)
    key.refresh_from_db(fields=["created_at"])


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

    Raises NotFound, KeyOfAnother or KeyOfIssuer.
    """
    text = new_key(SCOPED_KEY_PREFIX)
    with authored_transaction():
        key = _lock_own(workspace, account, role, public_id)
        if key.issuer is not None:
            raise KeyOfIssuer
        key.previous_digest = key.digest if grace_seconds else None
        key.digest = digest(text)
        ScopedKey.objects.filter(pk=key.pk).update(
            digest=key.digest,
            previous_digest=key.previous_digest,
            previous_until=Now() + timedelta(seconds=grace_seconds) if grace_seconds else None,
        )
        key.refresh_from_db(fields=["previous_until"])
        notify(
            account,
            gettext_lazy("API key replaced"),
            _REPLACED if key.user_id is not None else _REPLACED_OF_WORKSPACE,
        )
    return NewKey(key, text)


def delete_key(*, workspace: Workspace, account: User, role: Role, public_id: UUID) -> None:
    """Delete a key that the account may see. Raises NotFound."""
    with authored_transaction():
        deleted, _ = visible_keys(workspace, account, role).filter(public_id=public_id).delete()
    if not deleted:
        raise NotFound("Key not found.")


def _lock_own(workspace: Workspace, account: User, role: Role, public_id: UUID) -> ScopedKey:
    """The key, locked. For one of the workspace, the account's role is read again: the new key outlives it."""
    keys_seen = visible_keys(workspace, account, role).select_for_update(of=("self",))
    key = keys_seen.filter(public_id=public_id).first()
    if key is None:
        raise NotFound("Key not found.")
    if key.user_id is None:
        require_member(workspace, account, Role.ADMIN)
    elif key.user_id != account.pk:
        raise KeyOfAnother
    return key


def _allows_more(key: ScopedKey, former: ScopedKey) -> bool:
    """Whether the key has a further scope, a limit less or another domain, lasts longer, or accepts other tokens."""
    return bool(
        any(getattr(key, name) != getattr(former, name) for name in TOKEN_FIELDS)
        or key.scopes & ~former.scopes
        or (former.domain_id is not None and key.domain_id != former.domain_id)
        or (former.only_own and not key.only_own)
        or (former.expires_at is not None and (key.expires_at is None or key.expires_at > former.expires_at))
    )


def _refuse_contradiction(key: ScopedKey) -> None:
    """A key that is limited to some links cannot have a scope that concerns the whole workspace.

    One without a member cannot have a scope that acts in the name of a member.
    """
    if key.user is None and (
        of_members := [scope for scope in scopes_of(key.scopes) if scope in MEMBER_SCOPES]
    ):
        message = f"A key of the workspace cannot have the scope {of_members[0]}."
        raise InvalidFields([FieldError("scopes", "needs_member", message)])
    refused = [scope for scope in scopes_of(key.scopes) if scope in WORKSPACE_SCOPES]
    if refused and (key.domain_id is not None or key.only_own):
        message = f"A key with domainId or onlyOwn cannot have the scope {refused[0]}."
        raise InvalidFields([FieldError("scopes", "limited", message)])


def list_keys(workspace: Workspace, account: User, role: Role, *, window: Window) -> Page[ScopedKey]:
    """The newest first; empty beyond the last page."""
    keys = visible_keys(workspace, account, role)
    return page_of(rows_of(keys, window, "-id"), window, keys.count(), lambda key: (key.pk,))


def visible_keys(workspace: Workspace, account: User, role: Role) -> QuerySet[ScopedKey]:
    """The account's own keys of this workspace, newest first. Admins see all of the workspace."""
    keys = ScopedKey.objects.filter(workspace=workspace).select_related("user").order_by("-id")
    return keys if role.includes(Role.ADMIN) else keys.filter(user=account)
