"""Calls of the service, and how a link is named on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from . import __version__
from .client.errors import ApiError
from .client.exchange import Call
from .client.transport import Transport
from .configuration import in_use
from .exits import CREDENTIAL, Failed

Link = dict[str, Any]
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# An import or a bulk call may take a while.
_TIMEOUT = httpx.Timeout(120, connect=10)
PAGE = 100


class Api:
    """The service of the configuration, or of ``url`` and ``key``."""

    def __init__(self, url: str | None = None, key: str | None = None) -> None:
        used = in_use()
        url = url or used["url"][0]
        key = key or used["key"][0]
        if url is None or key is None:
            raise Failed("No service is chosen yet. Run: shorten login https://…", CREDENTIAL)
        self.transport = Transport(
            url,
            key,
            workspace=used["workspace"][0],
            timeout=_TIMEOUT,
            user_agent=f"shorten/{__version__}",
        )

    def get(self, path: str, **query: Any) -> Any:
        return self.transport.json(Call("GET", path, query=query))

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        creates: bool = False,
        headers: Mapping[str, str | None] | None = None,
    ) -> Any:
        """``creates``: the operation accepts an Idempotency-Key."""
        return self.transport.json(Call(method, path, body=body, headers=headers or {}, idempotent=creates))

    def links(self, **query: Any) -> Iterator[Link]:
        """All links, each once. New ones come last, so that they move no page."""
        seen: set[str] = set()
        order = {"sortBy": "createdAt", "sortOrder": "asc", "limit": PAGE}
        for link in self.transport.rows(Call("GET", "/api/urls", query={**order, **query}), "urls"):
            if link["_id"] not in seen:
                seen.add(link["_id"])
                yield link

    def id_of(self, link: str) -> str:
        """Of a link that is named as for `link`."""
        return link if _ID.fullmatch(link) else str(self.link(link)["_id"])

    def link(self, link: str) -> Link:
        """The link that is named by its id, by `ext_` and its externalId, by its short URL, or by its code."""
        if _ID.fullmatch(link) or link.startswith("ext_"):
            answer = self.get(path_of(link))
        else:
            short_url = link if "/" in link else f"{self._default_domain()}/{link}"
            answer = self.get("/api/urls/resolve", shortUrl=short_url)
        found: Link = answer["data"]["url"]
        return found

    def domain_id(self, host: str) -> str:
        """Of an available domain, by its id or its host."""
        for domain in self.get("/api/urls/domains/available")["data"]["domains"]:
            if host in (domain["id"], domain["fullDomain"]):
                return str(domain["id"])
        raise Failed(f"No domain {host} is available. `shorten config` shows the workspace.")

    def _default_domain(self) -> str:
        for domain in self.get("/api/urls/domains/available")["data"]["domains"]:
            if domain["isDefault"]:
                return str(domain["shortUrl"])
        raise Failed("This workspace has no default domain: name the link by its short URL.")


def path_of(identifier: str, rest: str = "") -> str:
    return f"/api/urls/{quote(identifier, safe='')}{rest}"


def is_unknown(error: ApiError) -> bool:
    return error.status == httpx.codes.NOT_FOUND
