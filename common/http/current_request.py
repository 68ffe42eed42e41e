"""The request that the current thread handles, for log lines, records of changes, and mails."""

from __future__ import annotations

from contextvars import ContextVar
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


class AuthMethod(StrEnum):
    """How the actor of a change authenticated; the history calls it ``via``."""

    API_KEY = "api_key"
    TOKEN = "token"  # noqa: S105 # a kind of credential
    OPERATOR = "operator"
    PAGE = "page"
    SERVICE = "service"


class Actor(NamedTuple):
    """``account`` is the primary key. None: the service, a key of a workspace, or a caller without a credential.

    ``key`` is the API id of the key with scopes, if the caller used one. ``token`` has the issuer and the subject of
    the token that acted as this key.
    """

    account: int | None
    via: AuthMethod
    key: UUID | None = None
    token: tuple[str, str] | None = None


class Trace(NamedTuple):
    """``trace_id`` and ``span_id`` are hexadecimal, 32 and 16 digits. ``is_sampled``: somebody records the trace."""

    trace_id: str
    span_id: str
    is_sampled: bool


SERVICE = Actor(None, AuthMethod.SERVICE)

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
trace: ContextVar[Trace | None] = ContextVar("trace", default=None)
accepted_languages: ContextVar[str] = ContextVar("accepted_languages", default="")
actor: ContextVar[Actor] = ContextVar("actor", default=SERVICE)
