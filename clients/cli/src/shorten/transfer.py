"""`import` and `export`: many links as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .api import Api
from .client.exchange import Call
from .exits import PARTLY, USAGE, Failed
from .fields import Json, secret, tags_text
from .files import whole_file
from .output import json_text, line, note, progress


def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV, JSON or JSON Lines; - is stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only tell what would happen.")] = False,
    format_: Annotated[
        str, typer.Option("--format", help="own, bitly, yourls, kutt, shlink, dub and so on.")
    ] = "auto",
    domain: Annotated[str | None, typer.Option(help="The host of the short URLs.")] = None,
    encoding: Annotated[str, typer.Option(help="Of the file.")] = "utf-8-sig",
    sealed: Annotated[
        bool, typer.Option("--sealed", help="Ask for the passphrase with which the passwords are sealed.")
    ] = False,
    json: Json = False,
) -> None:
    """Import up to 10,000 links from a file of this service or another. Rows fail independently."""
    content = _content(file, encoding)
    api = Api()
    body: dict[str, Any] = {"content": content, "format": format_, "dryRun": dry_run}
    if sealed:
        if file == "-":
            raise Failed("stdin cannot be both the file and the passphrase.", USAGE)
        body["passphrase"] = secret("Passphrase")
    if domain is not None:
        body["domainId"] = api.domain_id(domain)
    with progress("Importing", None):
        answer = api.send("POST", "/api/urls/import", body, creates=True)
    data = answer["data"]
    if json:
        json_text(data)
    else:
        for result in data["results"]:
            if result["success"]:
                line(f"row {result['row']}\t{result['url']['shortUrl']}\t{result['url']['originalUrl']}")
                for warning in result.get("warnings", []):
                    note(f"row {result['row']}: warning: {warning['field']}: {warning['message']}")
            else:
                note(f"row {result['row']}: {result['message']} ({result['status']} {result['code']})")
        for change in data["hostChanges"]:
            note(f"{change['links']} links leave {change['from']} for {change['to']}.")
        note(answer["message"])
    if data["failed"]:
        raise Failed(
            f"{data['failed']} of {data['failed'] + data['succeeded']} rows are not imported.", PARTLY
        )


def _content(file: str, encoding: str) -> str:
    try:
        return (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise Failed(f"{file}: {error}. Name the --encoding.", USAGE) from None
    except OSError as error:
        raise Failed(f"{file}: {error.strerror}.", USAGE) from None


def export(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file. Without it, stdout.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="csv or jsonl.")] = "csv",
    search: Annotated[str | None, typer.Option("--search", "-s", help="Only links with this text.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", "-t", help="Only links with any of these tags.")
    ] = None,
    sealed: Annotated[
        bool, typer.Option("--sealed", help="Ask for a passphrase, and seal the passwords of links with it.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Export links with all their fields. `shorten import` reads the file."""
    query = {"format": "jsonl" if json else format_, "search": search, "tags": tags_text(tag)}
    if sealed:
        body = {"passphrase": secret("Passphrase")}
        call = Call("POST", "/api/urls/sealed-export", query=query, body=body)
    else:
        call = Call("GET", "/api/urls/export", query=query)
    api = Api()
    if output is None:
        api.transport.file(call, sys.stdout.buffer)
        return
    with whole_file(output) as file, progress("Exporting", None):
        api.transport.file(call, file)
    note(f"Wrote {output}.")
