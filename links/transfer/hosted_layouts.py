"""How to read the exports of Bitly, Dub, Rebrandly and Short.io as the fields of a link."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from common.errors import FieldError, InvalidFields
from links.transfer.cells import boolean, json_value, number
from links.transfer.import_rows import (
    Fields,
    Row,
    first_value,
    has_value,
    host_and_code,
    iso_time,
    iso_time_of_digits,
    os_rules,
    redirect_type_of,
    rule_of,
    split_list,
    tag_names,
    truncated,
    utm_of,
    web_address,
    without_empty,
)

_ROOT = "This is the root of a domain, not a link."
_NOT_CLOAKED = "Links are not cloaked; visitors see the address of the destination."
_NO_PIXELS = "This service runs no scripts of others; visitors go to the destination at once."
_SPLIT_STAYS = "A split does not end at a given time; remove it yourself then."
_BAD_SPLIT = "The share must be from 1 to 99 per cent; the split is left out."

# Columns without a meaning for the link in another service: identifiers, and times of the former service.
IGNORED = {
    "bitly": "id references createdby clientid updatedat modifiedat",
    "dub": "id updatedat userid workspaceid projectid tagid qrcode lastclicked teststartedat",
    "rebrandly": "id linkid updatedat status https ispublic ref creator lastclickdate lastclickat sessions integrated"
    " options domainid domainname workspace workspaceid",
    "shortio": "id idstring domainid ownerid updatedat lcpath source user userid icon duplicate success linkid",
}
REASONS = {
    "dub": {"rewrite": _NOT_CLOAKED},
    "rebrandly": {"scripts": _NO_PIXELS},
    "shortio": {"cloaking": _NOT_CLOAKED}
    | dict.fromkeys(
        ("integrationfb", "integrationga", "integrationadroll", "integrationgtm"),
        _NO_PIXELS,
    ),
}


def _is_archived(row: Row) -> bool | None:
    return True if boolean(row.get("archived")) is True else None


def bitly(row: Row) -> Fields:
    host, code = host_and_code(first_value(row, "link", "bitlink", "id"))
    bitlinks = split_list(first_value(row, "custombitlinks", "custombitlink", "customlink"))
    custom = [host_and_code(bitlink) for bitlink in bitlinks] if isinstance(bitlinks, list) else []
    codes = [code for code in (*(custom_code for _, custom_code in custom), code) if code]
    return {
        "host": custom[0][0] if custom else host,
        "originalUrl": first_value(row, "longurl", "destinationurl"),
        "customCode": codes[0] if codes else None,
        "aliases": codes[1:],
        "title": truncated(row.get("title"), 200),
        "tags": split_list(row.get("tags")),
        "utm": utm_of(row),
        "isArchived": _is_archived(row),
        "expiresAt": iso_time(row.get("expirationat")),
        "clickCount": number(first_value(row, "clicks", "totalclicks", "engagements", "totalengagements")),
        "createdAt": iso_time(first_value(row, "createdat", "created", "datecreated")),
    }


def dub(row: Row) -> Fields:
    """Links of Dub's API (JSON), and its CSV files.

    API: `GET /links`, https://dub.co/docs/api-reference/endpoint/retrieve-a-list-of-links. Its order of targeting is
    that of the rules here: iOS, Android, country. `proxy` turns the title, the description and the image into the card
    of the link; without it they describe the link only.
    """
    host, code = host_and_code(first_value(row, "shortlink", "link"))
    key, domain, has_card = row.get("key"), row.get("domain"), boolean(row.get("proxy")) is True
    title, description, image = row.get("title"), row.get("description"), row.get("image")
    card = None
    if has_card:
        url = web_address(row, "image", image)
        card = without_empty(
            {"title": truncated(title, 200), "description": truncated(description, 500), "imageUrl": url}
        )
    # The text of a card is on the card already.
    note = row.get("comments") if has_card or not has_value(description) else None
    return {
        "host": domain or host,
        "originalUrl": first_value(row, "url", "destinationurl"),
        "customCode": key or code,
        "title": truncated(title, 200),
        "description": truncated(note or description, 500),
        "tags": tag_names(row.get("tags")),
        "isActive": False if row.get("disabledat") else None,
        "isArchived": _is_archived(row),
        "expiresAt": iso_time(row.get("expiresat")),
        "expiredUrl": web_address(row, "expiredurl", row.get("expiredurl")),
        "password": row.get("password"),
        "utm": utm_of(row),
        "rules": [*os_rules(row, iOS="ios", Android="android"), *_country_rules(row, "geo")] or None,
        "split": _test_variants(row) or None,
        "preview": card or None,
        "externalId": row.get("externalid"),
        "clickCount": number(row.get("clicks")),
        "createdAt": iso_time(row.get("createdat")),
    }


def _country_rules(row: Row, key: str) -> list[Fields]:
    """One rule for each address, with all countries that lead to it."""
    value = json_value(row.get(key))
    if not isinstance(value, dict):
        if has_value(value):
            row.leave_out(key)
        return []
    countries: dict[Any, list[str]] = {}
    for country, url in value.items():
        if isinstance(url, str):
            countries.setdefault(url, []).append(country)
        elif has_value(url):
            row.leave_out(key)
    return [rule for url, codes in countries.items() for rule in rule_of(row, key, "country", codes, url)]


def _test_variants(row: Row) -> list[Fields]:
    variants, ends = json_value(row.get("testvariants")), row.get("testcompletedat")
    if not has_value(variants):
        return []
    if has_value(ends):
        if _is_past(ends):
            return []
        row.leave_out("testcompletedat", _SPLIT_STAYS)
    if not isinstance(variants, list) or not all(isinstance(variant, dict) for variant in variants):
        row.leave_out("testvariants")
        return []
    return [{"url": variant.get("url"), "weight": number(variant.get("percentage"))} for variant in variants]


def _is_past(moment: Any) -> bool:
    try:
        parsed = datetime.fromisoformat(moment)
    except (TypeError, ValueError):
        return False
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)) < datetime.now(UTC)


def short_io(row: Row) -> Fields:
    """Links of Short.io's API (JSON), and CSV or TSV files with the same columns.

    API: `GET /api/links`, https://developers.short.io/reference/get_api-links, with `originalURL`, `path`,
    `shortURL`, `secureShortURL`, `title`, `tags`, `createdAt`, `expiresAt`, `clicksLimit` and `password`, as its
    public clients read them: github.com/MacHu-GWU/pyshortio-project (pyshortio/model.py) and github.com/dubinc/dub
    (apps/web/app/(ee)/api/cron/import/short/utils.ts). The targeting has the names of
    https://developers.short.io/reference/post_links: `splitPercent` is the share of `splitURL`, and `skipQS` switches
    off that redirects add the visitor's query.

    Files: example/export.tsv of pyshortio-project has `short_url`, `original_url`, `path`, `tags`, `clicks_limit` and
    `expire_at`. No public source shows the header of the dashboard's own export, or a column for clicks. So this also
    reads the names in the API's statistics: `totalClicks` and `humanClicks`.
    """
    host, code = host_and_code(first_value(row, "secureshorturl", "shorturl"))
    code = row.get("path") or code
    if not code:
        raise InvalidFields([FieldError("path", "root", _ROOT)])
    domain = first_value(row, "domain", "hostname")
    max_clicks = number(first_value(row, "clickslimit"))
    skips_query = boolean(row.get("skipqs"))
    return {
        "host": host or domain,
        "originalUrl": row.get("originalurl"),
        "customCode": code,
        "title": truncated(row.get("title"), 200),
        "tags": split_list(row.get("tags")),
        "isArchived": _is_archived(row),
        "expiresAt": iso_time_of_digits(first_value(row, "expiresat", "expireat")),
        "expiredUrl": web_address(row, "expiredurl", row.get("expiredurl")),
        "password": row.get("password"),
        "hasPassword": True if row.get("haspassword") in (True, "true") else None,
        "restrictions": None if max_clicks is None else {"maxClicks": max_clicks},
        "redirectType": redirect_type_of(row, "redirecttype"),
        "utm": utm_of(row),
        "rules": os_rules(row, iOS="iphoneurl", Android="androidurl") or None,
        "split": _split_url(row) or None,
        "forwardQuery": not skips_query if isinstance(skips_query, bool) else None,
        "clickCount": number(first_value(row, "clicks", "totalclicks", "clickcount", "humanclicks")),
        "createdAt": iso_time_of_digits(
            first_value(row, "createdat", "created", "creationdate", "datecreated")
        ),
    }


def _split_url(row: Row) -> list[Fields]:
    share = number(row.get("splitpercent"))
    address = web_address(row, "spliturl", row.get("spliturl"))
    if address is None:
        return []
    if type(share) is not int or not 1 <= share <= 99:
        row.leave_out("spliturl", _BAD_SPLIT)
        return []
    return [{"url": address, "weight": share}, {"url": row.get("originalurl"), "weight": 100 - share}]


def rebrandly(row: Row) -> Fields:
    """Links of Rebrandly's API (JSON), and the CSV files of its public exporters.

    API: `GET /v1/links`, https://developers.rebrandly.com/docs/link-entity, with `slashtag`, `destination`,
    `shortUrl`, `domain.fullName`, `title`, `tags`, `clicks`, `createdAt` and `forwardParameters`.

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
        "description": truncated(first_value(row, "description", "notes"), 500),
        "tags": tag_names(row.get("tags")),
        "redirectType": redirect_type_of(row, "redirecttype"),
        "utm": utm_of(row),
        "forwardQuery": True if boolean(row.get("forwardparameters")) is True else None,
        "clickCount": number(first_value(row, "clicks", "totalclicks")),
        "createdAt": iso_time(first_value(row, "createdat", "created", "creationdate")),
    }
