"""How to read the exports of Bitly, Dub, Linkly, Rebrandly, Short.io and T.LY as the fields of a link."""

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
_OWN_PIXELS = ("fbpixelid", "tiktokpixelid", "ga4tagid", "gtmid", "headtags", "bodytags")
_UNKNOWN_TARGETING = "This service cannot read this targeting; the links lead to the main destination only."
_BAD_SPLIT = "The share must be from 1 to 99 per cent; the split is left out."

# Columns without a meaning for the link in another service: identifiers, and times of the former service.
IGNORED = {
    "bitly": "id references createdby clientid updatedat modifiedat",
    "dub": "id updatedat userid workspaceid projectid tagid qrcode lastclicked teststartedat",
    "linkly": "id workspaceid updatedat insertedat sparkline clickstoday clicksthirtydays humanclickstotal"
    " humanclickstoday humanclickspreviousday humanclicksthirtydays publicanalytics blockbots",
    "rebrandly": "id linkid updatedat status https ispublic ref creator lastclickdate lastclickat sessions integrated"
    " options domainid domainname workspace workspaceid",
    "shortio": "id idstring domainid ownerid updatedat lcpath source user userid icon duplicate success linkid",
    "tly": "id updatedat publicstats qrcodeurl qrcodebase64 userid teamid",
}
REASONS = {
    "dub": {"rewrite": _NOT_CLOAKED},
    "linkly": {"cloaking": _NOT_CLOAKED} | dict.fromkeys(_OWN_PIXELS, _NO_PIXELS),
    "rebrandly": {"scripts": _NO_PIXELS},
    "shortio": {"cloaking": _NOT_CLOAKED}
    | dict.fromkeys(
        ("integrationfb", "integrationga", "integrationadroll", "integrationgtm"),
        _NO_PIXELS,
    ),
    "tly": {"pixels": _NO_PIXELS, "meta": _UNKNOWN_TARGETING},
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


def tly(row: Row) -> Fields:
    """Links of T.LY's API (JSON): `GET /api/v1/link/list`, https://t.ly/docs, and files with the same columns.

    A page has `short_url`, `short_id`, `long_url`, `domain`, `description`, `expire_at_datetime`, `expire_at_views`,
    `has_password`, `tags` (objects with `tag`) and `created_at`, as its public clients read them: the author's own,
    github.com/timleland/t.ly-node-url-shortener-api, and PyPI's tly-url-shortener-api. What `meta` holds (smart URLs,
    rotation) is described by neither, so a warning says that it does not come along.
    """
    host, code = host_and_code(row.get("shorturl"))
    max_clicks, domain = number(row.get("expireatviews")), row.get("domain")
    tags = split_list(row.get("tags"))
    if isinstance(tags, list):
        tags = [tag.get("tag", tag.get("name")) if isinstance(tag, dict) else tag for tag in tags]
    return {
        "host": host or host_and_code(domain)[0],
        "originalUrl": row.get("longurl"),
        "customCode": row.get("shortid") or code,
        "description": truncated(row.get("description"), 500),
        "tags": tags,
        "expiresAt": iso_time(row.get("expireatdatetime")),
        "password": row.get("password"),
        "hasPassword": True if boolean(row.get("haspassword")) is True else None,
        # T.LY writes 0 for "no limit".
        "restrictions": {"maxClicks": max_clicks} if max_clicks else None,
        "utm": utm_of(row),
        "clickCount": number(first_value(row, "clicks", "totalclicks", "stats")),
        "createdAt": iso_time(row.get("createdat")),
    }


_LINKLY_CONDITIONS = {
    "country": "country",
    "device": "device",
    "platform": "os",
    "os": "os",
    "browser": "browser",
}


def linkly(row: Row) -> Fields:
    """Links of Linkly's API (JSON): `GET /api/v1/workspace/{id}/list_links`, and files with the same columns.

    The names are those of linklyhq.com/url-shortener-api-reference: `name`, `url`, `full_url`, `domain`, `slug`
    (with its slash), `note`, `enabled`, `deleted`, `forward_params`, `expiry_datetime`, `expiry_destination`,
    `expiry_clicks`, `og_*`, `utm_*`, `clicks_total` and `rules`. A rule with `percentage` is a share of all visitors;
    the rest of them go to `url`.
    """
    if boolean(row.get("deleted")) is True:
        raise InvalidFields([FieldError("deleted", "deleted", "This link has been deleted there.")])
    host, code = host_and_code(row.get("fullurl"))
    slug, max_clicks = row.get("slug"), number(row.get("expiryclicks"))
    card = {
        "title": truncated(row.get("ogtitle"), 200),
        "description": truncated(row.get("ogdescription"), 500),
        "imageUrl": web_address(row, "ogimage", row.get("ogimage")),
    }
    rules, split = _linkly_rules(row)
    return {
        "host": row.get("domain") or host,
        "originalUrl": row.get("url"),
        "customCode": code or (slug.strip("/") if isinstance(slug, str) else slug),
        "title": truncated(row.get("name"), 200),
        "description": truncated(row.get("note"), 500),
        "isActive": False if boolean(row.get("enabled")) is False else None,
        "expiresAt": iso_time(row.get("expirydatetime")),
        "expiredUrl": web_address(row, "expirydestination", row.get("expirydestination")),
        "restrictions": {"maxClicks": max_clicks} if max_clicks else None,
        "utm": utm_of(row),
        "preview": without_empty(card) or None,
        "referrerPolicy": "no-referrer" if boolean(row.get("hidereferrer")) is True else None,
        "forwardQuery": True if boolean(row.get("forwardparams")) is True else None,
        "rules": rules or None,
        "split": split or None,
        "clickCount": number(first_value(row, "clickstotal", "clicks")),
        "createdAt": iso_time(first_value(row, "createdat", "insertedat")),
    }


def _linkly_rules(row: Row) -> tuple[list[Fields], list[Fields]]:
    """The rules with a condition, and the shares of a split with what is left for the destination itself."""
    stored = json_value(row.get("rules"))
    rules: list[Fields] = []
    shares: list[Fields] = []
    if not isinstance(stored, list) or not all(isinstance(rule, dict) for rule in stored):
        if has_value(stored):
            row.leave_out("rules", _UNKNOWN_TARGETING)
        return [], []
    for rule in stored:
        percentage, condition = number(rule.get("percentage")), _LINKLY_CONDITIONS.get(str(rule.get("what")))
        values = split_list(rule.get("matches"))
        if condition is not None and isinstance(values, list) and values and not percentage:
            rules += rule_of(row, "rules", condition, _values_of(condition, values), rule.get("url"))
        elif type(percentage) is int and 0 < percentage < 100 and not has_value(rule.get("matches")):
            address = web_address(row, "rules", rule.get("url"))
            shares += [] if address is None else [{"url": address, "weight": percentage}]
        else:
            row.leave_out("rules", _UNKNOWN_TARGETING)
    rest = 100 - sum(share["weight"] for share in shares)
    if shares and rest < 0:
        row.leave_out("rules", _BAD_SPLIT)
        return rules, []
    return rules, [*shares, {"url": row.get("url"), "weight": rest}] if shares and rest else shares


def _values_of(condition: str, values: list[Any]) -> list[Any]:
    """Devices are in lower case here."""
    lower = condition == "device"
    return [value.lower() if lower and isinstance(value, str) else value for value in values]
