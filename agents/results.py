"""The results of tools: objects for programs, each with a short text for models, which read every character.

They have the API's names and values, but in lists only what a model needs to go on.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

# A destination may have 2,048 characters.
MAX_TEXT = 300
# The rows of a report without a limit of its own, and the domains on a page.
MAX_ROWS = 100
# Larger images are only linked.
MAX_IMAGE_BYTES = 100_000


class Result(NamedTuple):
    text: str
    data: Mapping[str, Any]
    images: Sequence[dict[str, Any]] = ()
    is_error: bool = False

    def as_json(self) -> dict[str, Any]:
        content = [{"type": "text", "text": self.text}, *self.images]
        shown: dict[str, Any] = {"content": content, "structuredContent": self.data}
        return {**shown, "isError": True} if self.is_error else shown

    def with_warnings(self, response: Mapping[str, Any]) -> Result:
        warnings = response.get("warnings")
        if not warnings:
            return self
        lines = (f"Warning: {warning['field']}: {warning['message']}" for warning in warnings)
        return self._replace(text="\n".join([self.text, *lines]), data={**self.data, "warnings": warnings})


def refusal(body: Mapping[str, Any]) -> Result:
    """``body``: that of an error of the API."""
    lines = [f"{body['code']}: {body['message']}"]
    lines += [f"- {broken['field']}: {broken['message']}" for broken in body.get("errors", ())[1:]]
    if "retryAfter" in body:
        lines.append(f"Retry after {body['retryAfter']} seconds.")
    data = {name: value for name, value in body.items() if name != "success"}
    return Result("\n".join(lines), data, is_error=True)


def created_link(data: Mapping[str, Any], *, is_new: bool) -> Result:
    url, verb = data["url"], "Created" if is_new else "Found"
    return Result(f"{verb} {url['shortUrl']} to {_cut(url['originalUrl'])} (_id {url['_id']}).", data)


def updated_link(data: Mapping[str, Any]) -> Result:
    url = data["url"]
    return Result(f"Updated {url['shortUrl']} (_id {url['_id']}), which is {url['status']}.", data)


_OF_FOUND = (
    "_id",
    "shortUrl",
    "originalUrl",
    "targetUrl",
    "title",
    "tags",
    "clickCount",
    "status",
    "createdAt",
)


def found_links(data: Mapping[str, Any], cursor: str | None) -> Result:
    urls = [_picked(url, _OF_FOUND) for url in data["urls"]]
    page = data["pagination"]
    total = f"{'more than ' if page.get('totalIsCapped') else ''}{page['total']}"
    lines = [
        f"{url['shortUrl']} to {url.get('targetUrl', url['originalUrl'])} ({url['clickCount']} clicks,"
        f" {url['status']}, _id {url['_id']})"
        for url in urls
    ]
    shown = {"urls": urls, "total": page["total"], "nextCursor": cursor}
    return Result(_listed(f"{len(urls)} of {total} links.", lines, cursor), shown)


def domains(data: Mapping[str, Any], first: int) -> Result:
    """The domains from number ``first`` on, counted from 0."""
    shown, last = data["domains"], first + MAX_ROWS
    cursor = str(last) if last < len(shown) else None
    page = [_picked(domain, ("id", "shortUrl", "isDefault")) for domain in shown[first:last]]
    lines = [f"{domain['shortUrl']} (id {domain['id']})" for domain in page]
    return Result(
        _listed(f"{len(page)} of {len(shown)} domains.", lines, cursor),
        {"domains": page, "nextCursor": cursor},
    )


# The dimension that is no group of the API.
DATE = "date"
_TOTALS = ("totalClicks", "uniqueClicks", "importedClicks", "scans", "notCounted", "refused")


def report(data: Mapping[str, Any], dimension: str | None) -> Result:
    """The totals of a report, those of the compared period, and the clicks by ``dimension``."""
    shown: dict[str, Any] = _picked(data, _TOTALS)
    head = f"{data['totalClicks']} clicks"
    if data["uniqueClicks"] is not None:
        head += f", {data['uniqueClicks']} unique"
    if "compared" in data:
        shown["compared"] = _picked(data["compared"], _TOTALS)
        head += f"; {data['compared']['totalClicks']} clicks in the compared period"
    if dimension is None:
        return Result(f"{head}.", shown)
    if dimension == DATE:
        rows = [row for row in data["clicksByDate"] if row["clicks"]]
        shown["clicksByDate"], lines = rows[-MAX_ROWS:], _by("date", rows[-MAX_ROWS:])
        if len(rows) > MAX_ROWS:
            head += f". The last {MAX_ROWS} of {len(rows)} steps with clicks follow; ask for a shorter period"
    else:
        names = {str(url["_id"]): url["shortUrl"] for url in data.get("topUrls", ()) if dimension == "url"}
        shown["groups"] = [
            {**group, **({"shortUrl": names[group["value"]]} if group["value"] in names else {})}
            for group in data["groups"]
        ]
        lines = _by("value", shown["groups"])
    return Result("\n".join([f"{head}. By {dimension}:", *lines]), shown)


def explanation(data: Mapping[str, Any]) -> Result:
    outcome = data["outcome"]
    refused = outcome["reason"] and f"refused ({outcome['reason']})"
    target = outcome["location"] and f"redirected to {_cut(outcome['location'])}"
    answer = " and ".join(filter(None, (refused, target))) or "answered without a redirect"
    lines = [f"- {step['check']}: {step['detail']}" for step in data["steps"]]
    return Result("\n".join([f"The visitor is {answer}, with status {outcome['status']}:", *lines]), data)


def qr_code(data: Mapping[str, Any], image: bytes | None, media_type: str) -> Result:
    code = data["qrCode"]
    images = []
    if image is not None and len(image) <= MAX_IMAGE_BYTES:
        images.append({"type": "image", "data": b64encode(image).decode(), "mimeType": media_type})
    return Result(f"The QR code is at {code['imageUrl']} (_id {code['_id']}).", data, images)


def _picked(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The values of these names, without those that say nothing."""
    return {
        name: _cut(value) if isinstance(value, str) else value
        for name in names
        if (value := values.get(name)) not in (None, "", [])
    }


def _by(name: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"- {row.get('shortUrl', row[name])}: {row['clicks']}" for row in rows]


def _listed(head: str, lines: Iterable[str], cursor: str | None) -> str:
    more = [] if cursor is None else [f"More with cursor {cursor}."]
    return "\n".join([head, *(f"- {line}" for line in lines), *more])


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
