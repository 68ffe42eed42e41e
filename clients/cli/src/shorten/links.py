"""Commands about single links."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated, Any

import typer

from .api import Api, Link, path_of
from .exits import PARTLY, USAGE, Failed
from .fields import (
    Code,
    Description,
    Expires,
    ExternalId,
    Fields,
    Json,
    MaxClicks,
    Password,
    Tags,
    Title,
    body_of,
    tags_text,
)
from .output import is_terminal, json_line, json_text, line, note, progress, properties, rows

Named = Annotated[
    str, typer.Argument(metavar="LINK", help="Short URL, code, id, or ext_ and its external id.")
]
_BULK = 1000


def new(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL...", help="Destinations; - reads them from stdin, one a line.")
    ],
    code: Code = None,
    title: Title = None,
    description: Description = None,
    tag: Tags = None,
    domain: Annotated[str | None, typer.Option(help="The host of the short URL.")] = None,
    expires: Expires = None,
    max_clicks: MaxClicks = None,
    external_id: ExternalId = None,
    password: Password = False,
    field: Fields = None,
    json: Json = False,
) -> None:
    """Create links, and print their short URLs in the same order. `shorten URL` does the same."""
    if "-" in urls and password:
        raise Failed("stdin cannot be both the list and the password.", USAGE)
    body = body_of(
        code=code,
        title=title,
        description=description,
        tags=tag,
        expires=expires,
        max_clicks=max_clicks,
        external_id=external_id,
        password=password,
        fields=field,
    )
    api = Api()
    if domain is not None:
        body["domainId"] = api.domain_id(domain)
    if urls != ["-"] and len(urls) == 1:
        answer = api.send("POST", "/api/urls", {**body, "originalUrl": urls[0]}, creates=True)
        _tell_warnings(answer)
        if json:
            json_text(answer["data"]["url"])
        else:
            line(answer["data"]["url"]["shortUrl"])
        return
    destinations = [text for url in urls for text in (_lines() if url == "-" else [url])]
    _create_many(api, destinations, body, json=json)


def _lines() -> list[str]:
    return [text for each in sys.stdin if (text := each.strip())]


def _create_many(api: Api, destinations: list[str], body: dict[str, Any], *, json: bool) -> None:
    failed = 0
    with progress("Creating", len(destinations)) as bar:
        for start in range(0, len(destinations), _BULK):
            part = destinations[start : start + _BULK]
            items = [{**body, "originalUrl": each} for each in part]
            answer = api.send("POST", "/api/urls/bulk", {"urls": items}, creates=True)
            for destination, result in zip(part, answer["data"]["results"], strict=True):
                if json:
                    json_line(result)
                elif result["success"]:
                    line(result["url"]["shortUrl"])
                if not result["success"]:
                    failed += 1
                    note(f"{destination}: {result['message']} ({result['status']} {result['code']})")
            bar.advance(bar.task_ids[0], len(part))
    if failed:
        raise Failed(f"{failed} of {len(destinations)} links were not created.", PARTLY)


def ls(
    search: Annotated[
        str | None, typer.Option("--search", "-s", help="Part of a title, a code or a URL.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="With any of these tags.")] = None,
    status: Annotated[
        str | None, typer.Option(help="active, expired, disabled, banned and so on; commas between.")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="The host of the short URLs.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="The newest so many.")] = 20,
    all_: Annotated[bool, typer.Option("--all", "-a", help="All links, the oldest first.")] = False,
    json: Json = False,
) -> None:
    """List links. With --json, an object in each line."""
    api = Api()
    query = {
        "search": search,
        "tags": tags_text(tag),
        "status": status,
        "domainId": None if domain is None else api.domain_id(domain),
    }
    order = {} if all_ else {"sortOrder": "desc", "limit": min(limit, 100)}
    links = api.links(**query, **order)
    chosen = links if all_ else islice(links, limit)
    if json:
        for link in chosen:
            json_line(link)
        return
    rows(
        ["short URL", "clicks", "status", "title", "destination"],
        (
            [
                link["shortUrl"],
                link["clickCount"],
                link["status"],
                link["title"],
                link["targetUrl"] or link["originalUrl"],
            ]
            for link in chosen
        ),
    )


def get(link: Named, json: Json = False) -> None:
    """Show everything about a link."""
    found = Api().link(link)
    if json:
        json_text(found)
    else:
        properties({name: value for name, value in found.items() if value not in (None, [], {})})


def set_(
    link: Named,
    code: Code = None,
    title: Title = None,
    description: Description = None,
    tag: Tags = None,
    target: Annotated[
        str | None, typer.Option(help="Where the link leads from now on. Empty: the first destination.")
    ] = None,
    expires: Expires = None,
    max_clicks: MaxClicks = None,
    external_id: ExternalId = None,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Whether it redirects.")] = None,
    archived: Annotated[
        bool | None, typer.Option("--archive/--unarchive", help="Whether lists hide it.")
    ] = None,
    password: Password = False,
    field: Fields = None,
    json: Json = False,
) -> None:
    """Change fields of a link. An empty value clears a field."""
    body = body_of(
        code=code,
        title=title,
        description=description,
        tags=tag,
        expires=expires,
        max_clicks=max_clicks,
        external_id=external_id,
        password=password,
        fields=field,
    )
    if target is not None:
        body["targetUrl"] = target or None
    if active is not None:
        body["isActive"] = active
    if archived is not None:
        body["isArchived"] = archived
    if not body:
        raise Failed("Nothing to change: give at least one option.", USAGE)
    api = Api()
    identifier = api.id_of(link)
    if max_clicks is not None and "restrictions" not in {each.partition("=")[0] for each in field or []}:
        # An update replaces all restrictions: keep the others.
        body["restrictions"] = {**api.link(identifier)["restrictions"], **body["restrictions"]}
    answer = api.send("PUT", path_of(identifier), body)
    _tell_warnings(answer)
    if json:
        json_text(answer["data"]["url"])
    else:
        note(answer["message"])


def rm(
    links: Annotated[list[str], typer.Argument(metavar="LINK...")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete links. Within seven days the dashboard can bring them back."""
    api = Api()
    found: list[Link] = [api.link(each) for each in links]
    if not yes:
        if not sys.stdin.isatty():
            raise Failed("Deleting needs a confirmation: pass --yes.", USAGE)
        for link in found:
            note(f"{link['shortUrl']}  {link['clickCount']} clicks  {link['title'] or link['originalUrl']}")
        typer.confirm(f"Delete {len(found)} link{'s' * (len(found) > 1)}?", abort=True, err=True)
    for link in found:
        answer = api.send("DELETE", path_of(link["_id"]))
        if json:
            json_line({"_id": link["_id"], "shortUrl": link["shortUrl"], "message": answer["message"]})
        else:
            note(f"Deleted {link['shortUrl']}.")


def why(
    link: Named,
    country: Annotated[str | None, typer.Option(help="Of the visitor, such as DE.")] = None,
    device: Annotated[str | None, typer.Option(help="desktop, mobile or tablet.")] = None,
    language: Annotated[str | None, typer.Option(help="As in Accept-Language.")] = None,
    referrer: Annotated[str | None, typer.Option(help="Where the visitor comes from.")] = None,
    address: Annotated[str | None, typer.Option(help="The IP address of the visitor.")] = None,
    query: Annotated[str | None, typer.Option(help="The query of the visit, such as a=1.")] = None,
    time: Annotated[str | None, typer.Option(help="When, such as 2031-01-01T08:00:00Z.")] = None,
    json: Json = False,
) -> None:
    """Explain where a visit would end, and why. Nothing is counted."""
    visitor = {
        "country": country,
        "device": device,
        "language": language,
        "referrer": referrer,
        "address": address,
        "query": query,
        "time": time,
    }
    api = Api()
    body = {name: value for name, value in visitor.items() if value is not None}
    data = api.send("POST", path_of(api.id_of(link), "/simulate"), body)["data"]
    if json:
        json_text(data)
        return
    for step in data["steps"]:
        line(f"{'ok' if step['passed'] else 'no'}  {step['check'].ljust(12)}  {step['detail']}")
    outcome = data["outcome"]
    line(f"{outcome['status']}  {outcome['location'] or outcome['reason']}")


def stats(
    link: Annotated[str | None, typer.Argument(metavar="[LINK]", help="Without it, of all links.")] = None,
    period: Annotated[str, typer.Option(help="24h, 7d, 30d, 90d, 12mo, mtd, ytd or all.")] = "30d",
    json: Json = False,
) -> None:
    """Report clicks of a link, or of all links."""
    api = Api()
    path = "/api/analytics" if link is None else f"/api/analytics/{api.id_of(link)}"
    data = api.get(path, period=period)["data"]
    if json:
        json_text(data)
        return
    clicks = "click" if data["totalClicks"] == 1 else "clicks"
    line(f"{data['totalClicks']} {clicks}, {data['uniqueClicks']} unique ({period})")
    _bars([(each["date"], each["clicks"]) for each in data["clicksByDate"]])
    for title, name, key in (
        ("Countries", "topCountries", "country"),
        ("Devices", "topDevices", "device"),
        ("Referrers", "topReferrers", "referrer"),
    ):
        if data.get(name):
            line(f"\n{title}")
            _bars([(each[key], each["clicks"]) for each in data[name][:5]])


def _bars(counts: list[tuple[str, int]]) -> None:
    """A bar for each in a terminal, else a line with a tab."""
    most = max((count for _, count in counts), default=0)
    width = max((len(label) for label, _ in counts), default=0)
    for label, count in counts:
        if is_terminal():
            line(f"{label.ljust(width)}  {'█' * round(30 * count / most) if most else ''} {count}")
        else:
            line(f"{label}\t{count}")


def _tell_warnings(answer: Any) -> None:
    for warning in answer.get("warnings", []):
        note(f"Warning: {warning['field']}: {warning['message']} ({warning['code']})")
