"""Conversations with the OpenID provider, bounded in time, size and number.

A provider that is slow or hostile must not hold the threads of the API. A timeout of `requests` holds for each read,
so that one byte a second keeps a call alive without end, and the lookup of a name has none. So each conversation has
a thread of its own: the caller waits for it until the deadline, and then shuts its connections down.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, NamedTuple, NoReturn, TypeVar

import requests
from allauth.socialaccount.providers.base import ProviderException
from django.conf import settings
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool
from urllib3.exceptions import HTTPError

# Fewer than the threads of a worker, so that the other requests keep some.
AT_ONCE = 2
MAX_BYTES = 1024 * 1024
_CHUNK_BYTES = 64 * 1024

_places = BoundedSemaphore(AT_ONCE)
_T = TypeVar("_T")


class ProviderFailed(ProviderException):
    """The provider, or its configuration, violates a specification. The text is for the page and the log."""

    status = HTTPStatus.BAD_GATEWAY
    # The log has it from an earlier request.
    is_logged = False

    def again(self) -> ProviderFailed:
        self.is_logged = True
        return self


class ProviderUnavailable(ProviderFailed):
    """The provider cannot be reached, does not answer in time, or reports an error of its own."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class Answer(NamedTuple):
    """An answer of the provider. ``body`` is a JSON object."""

    status: int
    body: dict[str, Any]


class Conversation:
    """Requests to the provider, which `end` interrupts from another thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_over = False
        self._connections: list[socket.socket] = []
        self._session = _Session()
        # Without compression, so that the bound holds for the text.
        self._session.headers.update({"Accept": "application/json", "Accept-Encoding": "identity"})
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, _Adapter(self._follow))

    def get(self, subject: str, url: str, *, headers: Mapping[str, str] | None = None) -> Answer:
        """``subject`` names the answer in errors. Raises ProviderFailed if it is not a JSON object."""
        return self._call(subject, "GET", url, headers=headers)

    def post(
        self, subject: str, url: str, form: Mapping[str, str], *, auth: tuple[str, str] | None = None
    ) -> Answer:
        return self._call(subject, "POST", url, data=form, auth=auth)

    def end(self) -> None:
        """Interrupt whatever the thread of the conversation waits for, except the lookup of a name."""
        with self._lock:
            self._is_over = True
            for connection in self._connections:
                _shut_down(connection)

    def close(self) -> None:
        self._session.close()
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def _follow(self, connection: socket.socket) -> None:
        """A duplicate stays valid when TLS takes over the socket, and its number is not used for another file."""
        duplicate = connection.dup()
        with self._lock:
            self._connections.append(duplicate)
            if self._is_over:
                _shut_down(duplicate)

    def _call(self, subject: str, method: str, url: str, **options: Any) -> Answer:
        try:
            with self._session.request(
                method,
                url,
                stream=True,
                timeout=settings.OIDC_SECONDS,
                **options,
            ) as response:
                _check_status(subject, response.status_code)
                return Answer(response.status_code, _parse(subject, _read(subject, response)))
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            if self._is_over:
                raise _too_late() from None
            raise ProviderUnavailable(
                f"The identity provider cannot be reached for its {subject}."
            ) from error


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Follow none. With ``allow_redirects=False`` instead, requests reads the whole body of a redirect."""


class _Adapter(HTTPAdapter):
    """Reports each new connection to ``follow``."""

    def __init__(self, follow: Callable[[socket.socket], None]) -> None:
        self._follow = follow
        super().__init__()

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> HTTPConnectionPool:
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        if not hasattr(pool.ConnectionCls, "follow"):
            pool.ConnectionCls = type("Followed", (_Followed, pool.ConnectionCls), {"follow": self._follow})
        return pool  # type: ignore[no-any-return] # its class of connections is not in the stubs


class _Followed:
    follow: Callable[[socket.socket], None]

    def _new_conn(self) -> socket.socket:
        connection: socket.socket = super()._new_conn()  # type: ignore[misc] # mixed into connections of urllib3
        type(self).follow(connection)
        return connection


def converse(work: Callable[[Conversation], _T]) -> _T:
    """Return what ``work`` returns in a thread of its own. Raises its errors, or ProviderUnavailable.

    At once if AT_ONCE conversations are under way, and at the deadline, OIDC_SECONDS. A conversation
    that was interrupted is under way until its thread has noticed.
    """
    if not _places.acquire(blocking=False):
        raise ProviderUnavailable(
            "Too many people are logging in with single sign-on. Try again in a moment."
        )
    conversation, result = Conversation(), Future[_T]()
    try:
        Thread(target=_run, args=(work, conversation, result), daemon=True, name="identity provider").start()
    except RuntimeError:
        _places.release()
        raise
    try:
        return result.result(settings.OIDC_SECONDS)
    except TimeoutError:
        conversation.end()
        raise _too_late() from None


def _too_late() -> ProviderUnavailable:
    seconds = settings.OIDC_SECONDS
    return ProviderUnavailable(f"The identity provider did not answer within {seconds:g} seconds.")


def _run(work: Callable[[Conversation], _T], conversation: Conversation, result: Future[_T]) -> None:
    try:
        value = work(conversation)
    except BaseException as error:
        _leave(conversation)
        result.set_exception(error)
    else:
        _leave(conversation)
        result.set_result(value)


def _leave(conversation: Conversation) -> None:
    """Free the place before the caller gets the result: its next conversation must find one."""
    conversation.close()
    _places.release()


def _check_status(subject: str, status: int) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        # It would repeat the client's secret, the code or the token to an address that nobody has configured.
        raise ProviderFailed(f"The identity provider redirects the request for its {subject}.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        raise ProviderUnavailable(
            f"The identity provider answered with status {status} instead of its {subject}."
        )


def _read(subject: str, response: requests.Response) -> bytes:
    content = bytearray()
    for chunk in response.raw.stream(_CHUNK_BYTES, decode_content=False):
        content += chunk
        if len(content) > MAX_BYTES:
            raise ProviderFailed(f"The identity provider's {subject} has more than {MAX_BYTES:,} bytes.")
    return bytes(content)


def _parse(subject: str, content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ProviderFailed(f"The identity provider's {subject} is not JSON.") from None
    if not isinstance(body, dict):
        raise ProviderFailed(f"The identity provider's {subject} is not a JSON object.")
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
