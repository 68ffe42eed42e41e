"""Safe retries: requests with the same ``Idempotency-Key`` are executed only once.

One transaction commits both the changes and the response of a request. So after a crash at any point, either both are
stored and a retry returns the stored response, or neither is and a retry executes the request.

Every stored response stays valid for 24 hours. Their size is limited for each account, and each workspace with keys of
its own: at the limit, new keys are refused and nothing is evicted.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast

import orjson
from django.conf import settings
from django.db.models.functions import Now
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.callers import Caller, caller_of, personal_workspace
from accounts.models import StoredResponse, Workspace
from common import secrets
from common.database import fetch, in_one_transaction
from common.errors import Conflict, FieldError, InvalidFields, ServiceError, TooManyAttempts
from common.rest.envelope import attach_warnings

KEPT_HOURS = 24
MB = 1_000_000
# A process queries an account's total this often, and before every refusal. In between it adds its own responses.
REFRESH_SECONDS = 60.0
_MAX_ACCOUNTS = 10_000

_KEPT = f"""
SELECT coalesce(sum(octet_length(sealed)), 0)::bigint,
    ceil(extract(epoch FROM min(created_at) + interval '{KEPT_HOURS} hours' - clock_timestamp()))::int
FROM accounts_storedresponse WHERE owner_id = %s AND created_at > now() - interval '{KEPT_HOURS} hours'
"""  # noqa: S608 # put together from constants


class StoredResponsesFull(TooManyAttempts):
    code = "idempotency_full"
    message = (
        "The stored responses of this account's Idempotency-Keys have reached their size limit. "
        "Send the request without a key, or retry later."
    )

    def __init__(self, retry_after: int, *, limit: int) -> None:
        super().__init__(retry_after, limit=limit, window=KEPT_HOURS * 3600)


@dataclass(slots=True)
class _Sum:
    queried_at: float
    bytes: int


_sums: dict[int, _Sum] = {}
_sums_lock = Lock()


def require_space(owner: Workspace) -> None:
    """Raises StoredResponsesFull if the stored responses take IDEMPOTENCY_MB or more.

    The last response may exceed the limit, and so may responses that other processes added since the last query.
    """
    limit = settings.IDEMPOTENCY_MB
    if not limit:
        return
    now = time.monotonic()
    total = _sums.get(owner.pk)
    if total is not None and total.bytes < limit * MB and now - total.queried_at < REFRESH_SECONDS:
        return
    [(stored_bytes, oldest_expires_in)] = fetch(_KEPT, [owner.pk])
    with _sums_lock:
        if len(_sums) >= _MAX_ACCOUNTS:
            _sums.clear()
        _sums[owner.pk] = _Sum(now, stored_bytes)
    if stored_bytes >= limit * MB:
        raise StoredResponsesFull(oldest_expires_in, limit=limit)


def _add_size(owner: Workspace, size: int) -> None:
    with _sums_lock:
        total = _sums.get(owner.pk)
        if total is not None:
            total.bytes += size


HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
# Of the object that was created.
_KEPT_HEADERS = ("ETag", "Location")
MAX_CHARACTERS = 255
# Surrounding whitespace is not part of a header value.
_PRINTABLE = re.compile(rf"(?=.{{1,{MAX_CHARACTERS}}}\Z)[!-~](?:[ -~]*[!-~])?")
_SEALING = "idempotent-answers"

_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"

View = TypeVar("View", bound=Callable[..., Response])


class RequestInProgress(Conflict):
    code = "idempotency_in_progress"
    message = f"A request with this {HEADER} is still in progress. Retry in a moment."


class KeyMismatch(ServiceError):
    status = 422
    code = "idempotency_mismatch"
    message = f"This {HEADER} was already used with a different request."


class BadKey(InvalidFields):
    def __init__(self) -> None:
        message = f"Must have 1 to {MAX_CHARACTERS} printable ASCII characters."
        super().__init__([FieldError(HEADER, "invalid", message)])


# The errors that idempotency adds to an action's own errors.
ERRORS = (BadKey(), RequestInProgress(), KeyMismatch(), StoredResponsesFull(3_600, limit=64))


class Key(NamedTuple):
    """An idempotency key: the caller's workspace (`_owner`), the digest of the key and the digest of the request."""

    owner: Workspace
    digest: bytes
    request: bytes

    @property
    def context(self) -> bytes:
        return b"%s %s %s" % (self.owner.public_id.bytes, self.digest, self.request)

    @property
    def lock(self) -> int:
        digest = hashlib.sha256(b"idempotency" + self.owner.public_id.bytes + self.digest).digest()
        return int.from_bytes(digest[:8], "big", signed=True)


def idempotent(create: View) -> View:
    """Decorator of a view that creates an object: supports the ``Idempotency-Key`` header."""

    @wraps(create)
    def wrapper(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        return respond_once(request, lambda: create(view, request, *args, **kwargs))

    return takes_key(wrapper)  # type: ignore[return-value] # the wrapper has the view's signature


def takes_key(create: View) -> View:
    """Mark an action that calls ``respond_once``. The OpenAPI description then lists the header and its errors."""
    create.idempotency_errors = ERRORS  # type: ignore[attr-defined] # attribute of this project
    return create


def respond_once(request: Request, create: Callable[[], Response]) -> Response:
    """The stored response for the request's key if there is one, otherwise the response of ``create``.

    Raises RequestInProgress, KeyMismatch, StoredResponsesFull, or any error of ``create``. Errors are not stored.
    """
    name = valid_name(request)
    return create() if name is None else _respond_once(_key(name, request), request, create)


def valid_name(request: Request) -> str | None:
    """The request's key as sent, None without one. Raises InvalidFields."""
    name: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if name is not None and _PRINTABLE.fullmatch(name) is None:
        raise BadKey
    return name


def delete_expired_responses() -> int:
    deleted, _ = StoredResponse.objects.filter(created_at__lt=Now() - timedelta(hours=KEPT_HOURS)).delete()
    return deleted


def _respond_once(key: Key, request: Request, create: Callable[[], Response]) -> Response:
    def respond() -> Response:
        _lock(key)
        # Read after locking, to see what the previous holder of the lock committed.
        stored = StoredResponse.objects.filter(owner=key.owner, key_digest=key.digest).first()
        if stored is not None:
            return _replay(key, bytes(stored.sealed))
        require_space(key.owner)
        response = create()
        # A repeated request returns the same warnings.
        attach_warnings(request, response)
        headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
        content = orjson.dumps([response.status_code, response.data, headers], default=str)
        sealed = secrets.seal(content, purpose=_SEALING, context=key.context, secret=settings.SECRET_KEY)
        StoredResponse(owner=key.owner, key_digest=key.digest, sealed=sealed).save(force_insert=True)
        _add_size(key.owner, len(sealed))
        return response

    return in_one_transaction(respond)


def _replay(key: Key, sealed: bytes) -> Response:
    secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    content = secrets.unseal(sealed, purpose=_SEALING, context=key.context, secrets=secret_keys)
    if content is None:
        raise KeyMismatch
    status, data, headers = orjson.loads(content)
    return Response(data, status=status, headers={**headers, REPLAYED: "true"})


def _lock(key: Key) -> None:
    """Lock the key until the transaction ends. Refuse duplicates at once: waiting ones could block all threads."""
    if fetch(_LOCK, [key.lock]) != [(True,)]:
        raise RequestInProgress


def _owner(caller: Caller) -> Workspace:
    """The account's personal workspace wherever it acts, or that of a key without an account."""
    owner = caller.workspace if caller.account is None else personal_workspace(caller.account)
    return cast(Workspace, owner)


def _key(name: str, request: Request) -> Key:
    # Not orjson: it rejects numbers with too many digits. Sort the keys: their order is irrelevant.
    body = json.dumps(request.data, sort_keys=True, separators=(",", ":"))
    # A personal workspace adds nothing: requests need not name it.
    caller = caller_of(request)
    workspace = caller.workspace
    named = "" if workspace is None or workspace.is_personal else f" {workspace.public_id}"
    if caller.key is not None:
        # Another key of the account may not read the response.
        named += f" key {caller.key.id}"
    digest = hashlib.sha256(f"{request.method} {request.path}{named}\n{body}".encode()).digest()
    return Key(_owner(caller), hashlib.sha256(name.encode()).digest(), digest)
