"""The OpenAPI description of exports and imports."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from accounts import admission
from accounts.downloads import Busy
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.openapi.responses import Representation, choice, count, flag, moment, number, text
from links.bulk.schema import ID, OWN_IDS, results
from links.bulk.services import MAX_ITEMS
from links.errors import DomainNotActive, domain_not_found
from links.schema import FILTER_ERRORS
from links.transfer.exports import COLUMNS, CONTENT_TYPES, ExportFormat
from links.transfer.import_layouts import AUTO, NAMES
from links.transfer.imports import MAX_ROWS

_IMPORTED = Representation(
    "ImportedUrl",
    text("originalUrl", None, "https://example.com/spring"),
    text("customCode", None, "spring", allow_null=True),
    text("title", None, "Spring sale", allow_null=True),
    count("clickCount", example=42),
    text("_id", None, help_text="Only for an imported link.", label="_id", required=False),
    moment("createdAt", None, required=False, help_text="Only for an imported link."),
    text("shortCode", None, required=False),
    text("shortUrl", None, "https://go.example.com/spring", required=False),
)
_ROW = number("row", None, 1, "From 1.", min_value=1)
_HOST_CHANGE = Representation(
    "HostChange",
    text("from", None, "dub.sh"),
    text("to", None, "go.example.com"),
    count("links", example=1),
)
IMPORTED = (
    choice("format", None, NAMES, "own"),
    flag("dryRun", None, True),
    _HOST_CHANGE.listed(
        "hostChanges",
        help_text="How many links change to another host. Their former addresses do not lead here.",
    ),
    *results("ImportUrls", _ROW, _IMPORTED, status=201),
)
# Without customCode: another link of the reader's service may have the code.
_CSV = """originalUrl,title,clickCount,createdAt
https://example.com/spring,Spring sale,42,2024-03-01
"""

_UNREADABLE = {
    "empty": "The file contains no links.",
    "unknown_format": "No column with destinations found. Call it originalUrl.",
    "unreadable": "Expected a JSON object.",
    "invalid_json": "This is not valid JSON.",
    "too_many_rows": f"At most {MAX_ROWS} links are imported in one call.",
}

_FILES = {
    "text/csv": OpenApiResponse(
        str,
        "The file. Text that a spreadsheet would run as a formula is prefixed with an apostrophe.",
        [OpenApiExample("CSV", ",".join(COLUMNS) + "\r\n")],
    ),
    CONTENT_TYPES[ExportFormat.JSONL]: OpenApiResponse(
        str,
        "The file.",
        [OpenApiExample("JSON lines", '{"shortCode":"k3TzP9q","originalUrl":"https://example.com/"}\n')],
    ),
}

name_choices("ImportFormat", [AUTO, *NAMES])
name_choices("DetectedImportFormat", NAMES)
name_choices("ExportFormat", ExportFormat.values)

describe_transfers = describe(
    "Links",
    import_urls=Operation(
        "importUrls",
        f"Import up to {MAX_ROWS} short links.",
        "One result per row.",
        description="Accepts exports of this service, Bitly, YOURLS, Kutt, Shlink, Dub, Short.io, Rebrandly, T.LY and"
        " Linkly. Links keep their codes, which may contain `-`, `.`, `_` and `~` and have 1 to 255 characters,"
        " creation dates, numbers of clicks, targeting and campaign parameters. A warning `not_imported` names each"
        " column of a row that has no counterpart. Writes nothing unless `dryRun` is false.",
        examples=[{"content": _CSV}],
        errors=[
            invalid("content"),
            *(invalid("content", code, message) for code, message in _UNREADABLE.items()),
            domain_not_found(),
            DomainNotActive("go.example.com"),
            admission.TOO_MANY_CALLS,
        ],
    ),
    export_urls=Operation(
        "exportUrls",
        "Export your short links, or those that match the filters.",
        description="Newest first. The file can be imported again. It contains no passwords; see `sealed-export`.",
        files=_FILES,
        errors=[*FILTER_ERRORS, Busy()],
    ),
    export_sealed=Operation(
        "exportUrlsWithPasswords",
        "Export your short links with sealed passwords.",
        description="As `GET /api/urls/export`, with the column `sealedPassword`: the hash of a link's password, which"
        " only `POST /api/urls/import` with the same passphrase can open. So protected links move to another workspace"
        " or installation. For administrators, with an account key or a token.",
        files=_FILES,
        examples=[{"passphrase": "twelve white horses"}],
        errors=[invalid("passphrase"), *FILTER_ERRORS, Busy()],
    ),
    export_selected=Operation(
        "exportSelectedUrls",
        f"Export up to {MAX_ITEMS} short links by their ids.",
        description="Newest first, in the format of `GET /api/urls/export`. The file omits links that do not exist.",
        files=_FILES,
        examples=[{"ids": [ID]}],
        placeholders={"ids": OWN_IDS},
        errors=[invalid("ids")],
    ),
)
