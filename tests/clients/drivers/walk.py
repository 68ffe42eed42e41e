"""Walks every operation with the Python client, as `testing/clients/walk.py` says, and prints what came."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

from shortener_client import ApiError, AsyncClient, Client, ShortenerError

mode, walk = sys.argv[1:]
steps, known = json.loads(walk)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item) for item in value]
    return known[value[1:]] if isinstance(value, str) and value.startswith("$") else value


def at(answer: Any, path: str) -> Any:
    for key in path.split("."):
        answer = answer[int(key)] if key.isdigit() else answer[key]
    return answer


class Sync:
    """The synchronous client, behind the methods of the asynchronous one."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._client = Client(*given, **named)

    async def call(self, name: str, /, *given: Any, **named: Any) -> Any:
        answer = getattr(self._client, name)(*given, **named)
        return list(answer) if isinstance(answer, Iterator) else answer

    async def close(self) -> None:
        self._client.close()


class Async:
    def __init__(self, *given: Any, **named: Any) -> None:
        self._client = AsyncClient(*given, **named)

    async def call(self, name: str, /, *given: Any, **named: Any) -> Any:
        answer = getattr(self._client, name)(*given, **named)
        return [row async for row in answer] if isinstance(answer, AsyncIterator) else await answer

    async def close(self) -> None:
        await self._client.aclose()


async def answer_of(client: Sync | Async, step: dict[str, Any]) -> dict[str, Any]:
    options = {snake(name): filled(value) for name, value in step["options"].items()}
    named = {**filled(step["query"] or {}), **filled(step["body"] or {}), **options}
    try:
        answer = await client.call(snake(step["call"]), *map(filled, step["arguments"]), **named)
    except ApiError as error:
        return {
            "error": [error.status, error.code],
            "type": type(error).__name__,
            "request": error.request_id,
        }
    except ShortenerError as error:
        return {"failed": type(error).__name__}
    for name, path in step["save"].items():
        known[name] = at(answer, path)
    match answer:
        case bytes():
            return {"bytes": len(answer)}
        case list():
            return {"rows": answer}
    return {"answer": answer}


async def main() -> None:
    sort = Async if mode == "async" else Sync
    client, used = None, None
    for step in steps:
        needed = {"base_url": step["url"], "api_key": known["apiKey"], "token": known.get("token")}
        if client is None or needed != used:
            if client is not None:
                await client.close()
            client, used = sort(**needed), needed
        print(json.dumps({"call": step["call"], **await answer_of(client, step)}))  # noqa: T201 # its result
    if client is not None:
        await client.close()


asyncio.run(main())
