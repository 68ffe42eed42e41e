"""Layouts of hosted services: Short.io and Rebrandly."""

from __future__ import annotations

from typing import Any

from common.errors import FieldError, InvalidFields
from links.transfer.cells import number
from links.transfer.layout_values import (
    Fields,
    Row,
    first_value,
    host_and_code,
    iso_time,
    split_list,
    truncated,
)

# Unix times of JavaScript are in milliseconds. In seconds, this is the year 5138.
_FIRST_MILLISECONDS = 100_000_000_000
_ROOT = "This is the root of a domain, not a link."


def short_io(row: Row) -> Fields:
    """Links of Short.io's API (JSON), and CSV or TSV files with the same columns.

    API: `GET /api/links`, https://developers.short.io/reference/get_api-links, with `originalURL`, `path`,
    `shortURL`, `secureShortURL`, `title`, `tags`, `createdAt`, `expiresAt`, `clicksLimit` and `password`, as its
    public clients read them: github.com/MacHu-GWU/pyshortio-project (pyshortio/model.py) and github.com/dubinc/dub
    (apps/web/app/(ee)/api/cron/import/short/utils.ts).

    Files: example/export.tsv of pyshortio-project has `short_url`, `original_url`, `path`, `tags`, `clicks_limit` and
    `expire_at`. No public source shows the header of the dashboard's own export, or a column for clicks. So this also
    reads the names in the API's statistics: `totalClicks` and `humanClicks`.
    """
    host, code = host_and_code(first_value(row, "secureshorturl", "shorturl"))
    code = row.get("path") or code
    if not code:
        raise InvalidFields([FieldError("path", "root", _ROOT)])
    max_clicks = number(first_value(row, "clickslimit"))
    return {
        "host": host or first_value(row, "domain", "hostname"),
        "originalUrl": row.get("originalurl"),
        "customCode": code,
        "title": truncated(row.get("title"), 200),
        "tags": split_list(row.get("tags")),
        "expiresAt": _time(first_value(row, "expiresat", "expireat")),
        "password": row.get("password"),
        "hasPassword": True if row.get("haspassword") in (True, "true") else None,
        "restrictions": None if max_clicks is None else {"maxClicks": max_clicks},
        "clickCount": number(first_value(row, "clicks", "totalclicks", "clickcount", "humanclicks")),
        "createdAt": _time(first_value(row, "createdat", "created", "creationdate", "datecreated")),
    }


def rebrandly(row: Row) -> Fields:
    """Links of Rebrandly's API (JSON), and the CSV files of its public exporters.

    API: `GET /v1/links`, https://developers.rebrandly.com/docs/link-entity, with `slashtag`, `destination`,
    `shortUrl`, `domain.fullName`, `title`, `tags`, `clicks` and `createdAt`.

    CSV: `id, createdAt, shortUrl, domain, slashtag, destination` of github.com/lmammino/rebrandly-links-export
    (src/index.js); `id, createdAt, shortUrl, destination` of github.com/simhskal/export-links-from-rebrandly
    (export.py); the keys of the API, with an unreadable `domain`, of github.com/slaveofcode/rebrandly-export-csv
    (index.js). No public source shows the header of the dashboard's own export. So this also reads the labels of its
    pages: `Short URL`, `Destination URL`, `Slashtag`, `Created at`.
    """
    host, code = host_and_code(row.get("shorturl"))
    code = row.get("slashtag") or code
    if not code:
        raise InvalidFields([FieldError("slashtag", "root", _ROOT)])
    domain = row.get("domain")
    if isinstance(domain, dict):
        domain = domain.get("fullName")
    return {
        "host": host or domain,
        "originalUrl": first_value(row, "destination", "destinationurl"),
        "customCode": code,
        "title": truncated(row.get("title"), 200),
        "description": truncated(row.get("description"), 500),
        "tags": _names(split_list(row.get("tags"))),
        "clickCount": number(first_value(row, "clicks", "totalclicks")),
        "createdAt": iso_time(first_value(row, "createdat", "created", "creationdate")),
    }


def _names(tags: Any) -> Any:
    if not isinstance(tags, list):
        return tags
    return [tag.get("name") if isinstance(tag, dict) else tag for tag in tags]


def _time(value: Any) -> Any:
    moment = number(value)
    if type(moment) is int:
        return iso_time(moment // 1000 if moment >= _FIRST_MILLISECONDS else moment)
    return iso_time(value)
