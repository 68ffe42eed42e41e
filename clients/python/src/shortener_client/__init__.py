"""A typed client of the API of the URL shortener.

`Client` and `AsyncClient` have a method for each operation; `types` has what they return, `errors` what they raise.
"""

from __future__ import annotations

import httpx

from .generated import VERSION, errors, types
from .generated.async_operations import AsyncOperations
from .generated.operations import Operations
from .runtime.body import headers_of
from .runtime.errors import (
    ApiError,
    ConfigurationError,
    ConnectionFailed,
    FieldError,
    NotModified,
    ShortenerError,
    UnexpectedAnswer,
)

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "ConfigurationError",
    "ConnectionFailed",
    "FieldError",
    "NotModified",
    "ShortenerError",
    "UnexpectedAnswer",
    "errors",
    "headers_of",
    "types",
]
__version__ = VERSION

_USER_AGENT = f"shortener-client-python/{VERSION} httpx/{httpx.__version__}"


class Client(Operations):
    """The service at ``base_url`` for the owner of ``api_key`` or ``token``.

    Without them, those of the environment are used: SHORTENER_URL, SHORTENER_API_KEY, SHORTENER_WORKSPACE.
    """

    default_user_agent = _USER_AGENT


class AsyncClient(AsyncOperations):
    """The same for asyncio."""

    default_user_agent = _USER_AGENT
