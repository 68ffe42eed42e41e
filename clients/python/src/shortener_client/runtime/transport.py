"""Sends calls, synchronously and asynchronously, and repeats them as `exchange.py` decides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, BinaryIO, Self, Unpack

import httpx

from .body import decoded
from .errors import ConnectionFailed
from .exchange import Call, Exchange
from .paging import next_call
from .settings import Options, settings_from

_TIMEOUT = httpx.Timeout(30, connect=10)
_CHUNK = 64 * 1024


class Transport:
    """A connection to the service. Close it, or use it in a `with` statement. Threads may share it.

    ``timeout``: seconds without any progress. ``http``: a client of your own, for proxies and certificates; you close
    it. For the other ``options`` see `Options`.
    """

    default_user_agent = "shortener-client-python"

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float | httpx.Timeout = _TIMEOUT,
        http: httpx.Client | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.settings = settings_from(base_url, api_key, self.default_user_agent, **options)
        self._http = http or httpx.Client(timeout=timeout)
        self._own = http is None

    def close(self) -> None:
        if self._own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def json(self, call: Call) -> Any:
        """The decoded answer."""
        return decoded(self._send(call, whole=True))

    def file(self, call: Call, into: BinaryIO | None = None) -> bytes:
        """The bytes of a file. With ``into``, they are written there as they arrive, and the result is empty."""
        response = self._send(call, whole=into is None)
        if into is None:
            return response.content
        try:
            for chunk in response.iter_bytes(_CHUNK):
                into.write(chunk)
        except httpx.TransportError as failure:
            raise ConnectionFailed(failure, attempts=1, may_have_happened=True) from failure
        finally:
            response.close()
        return b""

    def rows(self, call: Call, name: str) -> Iterator[Any]:
        """Each object of a list, page after page."""
        following: Call | None = call
        while following is not None:
            page = self.json(following)
            yield from page["data"][name]
            following = next_call(following, page)

    def _send(self, call: Call, *, whole: bool) -> httpx.Response:
        """A successful response. Unless ``whole``, its body has not been read, and the caller closes it."""
        exchange = Exchange(call, self.settings)
        while True:
            try:
                response = self._http.send(self._http.build_request(**exchange.request), stream=True)
                if whole or not response.is_success:
                    try:
                        response.read()
                    finally:
                        response.close()
            except httpx.TransportError as failure:
                wait = exchange.after_failure(failure)
            else:
                repeat = exchange.after_response(response)
                if repeat is None:
                    return response
                wait = repeat
            time.sleep(wait)


class AsyncTransport:
    """The same for asyncio. Close it with `aclose`, or use it in an `async with` statement."""

    default_user_agent = "shortener-client-python"

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float | httpx.Timeout = _TIMEOUT,
        http: httpx.AsyncClient | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.settings = settings_from(base_url, api_key, self.default_user_agent, **options)
        self._http = http or httpx.AsyncClient(timeout=timeout)
        self._own = http is None

    async def aclose(self) -> None:
        if self._own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def json(self, call: Call) -> Any:
        """The decoded answer."""
        return decoded(await self._send(call, whole=True))

    async def file(self, call: Call, into: BinaryIO | None = None) -> bytes:
        """The bytes of a file. With ``into``, they are written there as they arrive, and the result is empty."""
        response = await self._send(call, whole=into is None)
        if into is None:
            return response.content
        try:
            async for chunk in response.aiter_bytes(_CHUNK):
                into.write(chunk)
        except httpx.TransportError as failure:
            raise ConnectionFailed(failure, attempts=1, may_have_happened=True) from failure
        finally:
            await response.aclose()
        return b""

    async def rows(self, call: Call, name: str) -> AsyncIterator[Any]:
        """Each object of a list, page after page."""
        following: Call | None = call
        while following is not None:
            page = await self.json(following)
            for row in page["data"][name]:
                yield row
            following = next_call(following, page)

    async def _send(self, call: Call, *, whole: bool) -> httpx.Response:
        """A successful response. Unless ``whole``, its body has not been read, and the caller closes it."""
        exchange = Exchange(call, self.settings)
        while True:
            try:
                response = await self._http.send(self._http.build_request(**exchange.request), stream=True)
                if whole or not response.is_success:
                    try:
                        await response.aread()
                    finally:
                        await response.aclose()
            except httpx.TransportError as failure:
                wait = exchange.after_failure(failure)
            else:
                repeat = exchange.after_response(response)
                if repeat is None:
                    return response
                wait = repeat
            await asyncio.sleep(wait)
