"""Requests that may be sent again: with the same ``Idempotency-Key`` they are carried out once and answered twice.

What a request writes and its answer are committed together. So whatever is killed, and wherever: either both are
there, and sending it again gives the answer, or neither is, and sending it again carries it out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import orjson
from django.conf import settings
from django.db import connection
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import account_of
from accounts.models import IdempotentAnswer, User
from common import secrets
from common.database import in_one_transaction
from common.errors import Conflict, FieldError, InvalidFields, ServiceError

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
MAX_CHARACTERS = 255
KEPT_HOURS = 24
# As it is described: blanks at the ends of a header are none of it.
_PRINTABLE = re.compile(rf"(?=.{{1,{MAX_CHARACTERS}}}\Z)[!-~](?:[ -~]*[!-~])?")
_SEALING = "idempotent-answers"

_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"
_FORGET = f"DELETE FROM accounts_idempotentanswer WHERE created_at < now() - interval '{KEPT_HOURS} hours'"  # noqa: S608

View = TypeVar("View", bound=Callable[..., Response])


class UnderWay(Conflict):
    code = "idempotency_in_progress"
    message = f"A request with this {HEADER} is being carried out. Send it again in a moment."


class AnotherRequest(ServiceError):
    status = 422
    code = "idempotency_mismatch"
    message = f"This {HEADER} was sent with another request."


_BAD_KEY = InvalidFields(
    [FieldError(HEADER, "invalid", f"Must have 1 to {MAX_CHARACTERS} printable ASCII characters.")]
)
# What an idempotent action may raise besides its own.
REFUSALS = (_BAD_KEY, UnderWay(), AnotherRequest())


class Key(NamedTuple):
    """Of one account, and the digest of the request that was sent with it."""

    owner: User
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
    """Of an action that creates: lets its clients name a request by a key."""

    @wraps(create)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        name = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if name is None:
            return create(view, request, *args, **kwargs)
        return _answer_once(_key(name, request), lambda: create(view, request, *args, **kwargs))

    return answer  # type: ignore[return-value] # it takes and gives what the view does


def forget_old_answers() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)
        return int(cursor.rowcount)


def _answer_once(key: Key, create: Callable[[], Response]) -> Response:
    """Raises UnderWay, AnotherRequest, or what ``create`` raises, of which nothing is kept."""

    def answer() -> Response:
        _lock(key)
        # Only now: what the former holder of the lock has committed must be seen.
        former = IdempotentAnswer.objects.filter(owner=key.owner, key_digest=key.digest).first()
        if former is not None:
            return _replayed(key, bytes(former.sealed))
        response = create()
        content = orjson.dumps([response.status_code, response.data], default=str)
        sealed = secrets.seal(content, purpose=_SEALING, context=key.context, secret=settings.SECRET_KEY)
        IdempotentAnswer(owner=key.owner, key_digest=key.digest, sealed=sealed).save(force_insert=True)
        return response

    return in_one_transaction(answer)


def _replayed(key: Key, sealed: bytes) -> Response:
    known = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    content = secrets.unseal(sealed, purpose=_SEALING, context=key.context, secrets=known)
    if content is None:
        raise AnotherRequest
    status, data = orjson.loads(content)
    return Response(data, status=status, headers={REPLAYED: "true"})


def _lock(key: Key) -> None:
    """Until the end of the transaction. A twin is told at once: waiting, many of them would hold every worker."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [key.lock])
        if cursor.fetchone() != (True,):
            raise UnderWay


def _key(name: str, request: Request) -> Key:
    if _PRINTABLE.fullmatch(name) is None:
        raise _BAD_KEY
    # Not orjson: a number may have more digits than it takes. The order of keys says nothing.
    body = json.dumps(request.data, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"{request.method} {request.path}\n{body}".encode()).digest()
    return Key(account_of(request), hashlib.sha256(name.encode()).digest(), digest)
