"""The OpenAPI description of exports and imports."""

from __future__ import annotations

from functools import partial

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema_view,
)
from rest_framework.fields import BooleanField, CharField, ChoiceField, IntegerField

from accounts import idempotency
from common.errors import NotFound
from common.fields import DateTime
from common.schema import (
    NO_CREDENTIAL,
    Part,
    Parts,
    annotate,
    answer,
    bad_bodies,
    invalid,
    nested,
    operation,
)
from domains.addresses import BASE_ID
from links.bulk_parsers import ImportParser
from links.bulk_schema import results
from links.downloads import Busy
from links.exports import COLUMNS, CONTENT_TYPES, ExportFormat
from links.imports.layouts import NAMES
from links.imports.serializers import ImportSerializer
from links.imports.services import MAX_ROWS
from links.schema_notes import BAD_TAGS
from links.serializers import ExportQuery

_operation = partial(operation, tag="Links")

annotate(
    ImportSerializer,
    {
        "content": {"description": "The file itself: CSV with a first row of names, JSON, or lines of JSON."},
        "format": {
            "description": "Whose export it is; `own` is this service's. Told from the first row, unless given."
        },
        "domainId": {
            "description": f"The `id` of the domain for all of them; `{BASE_ID}` is the default one. Unless given,"
            " links stay on those domains of one's own that they were on, and all others go to the default one."
        },
        "dryRun": {"description": "Whether to tell only what would become of each row."},
    },
)
annotate(
    ExportQuery,
    {
        "format": {"description": "`csv` for spreadsheets, `jsonl` for programs: an object in each line."},
        "search": {"description": "As of the list."},
        "tags": {"description": "As of the list."},
        "isActive": {"description": "As of the list."},
    },
)

_IMPORTED: Parts = {
    "originalUrl": Part(CharField(), "https://example.com/spring"),
    "customCode": Part(CharField(allow_null=True), "spring"),
    "title": Part(CharField(allow_null=True), "Spring sale"),
    "clickCount": Part(IntegerField(min_value=0), 42),
    "_id": Part(CharField(label="_id", required=False, help_text="Of a link that was imported.")),
    "createdAt": Part(DateTime(required=False, help_text="As the others that are not here in a dry run.")),
    "shortCode": Part(CharField(required=False)),
    "shortUrl": Part(CharField(required=False), "https://go.example.com/spring"),
}
_ROW = Part(IntegerField(min_value=1, help_text="The first link is 1."), 1)
_CSV = """originalUrl,customCode,title,clickCount,createdAt
https://example.com/spring,spring,Spring sale,42,2024-03-01
"""

_UNREADABLE = {
    "empty": "There are no links in it.",
    "unknown_format": "It is none of the known formats.",
    "unreadable": "This is no object.",
    "invalid_json": "This is not valid JSON.",
    "too_many_rows": f"At most {MAX_ROWS} links are imported in one call.",
}

_FILES = {
    "text/csv": OpenApiResponse(
        str,
        "The file. Text that a spreadsheet would take for a formula begins with an apostrophe.",
        [OpenApiExample("CSV", ",".join(COLUMNS) + "\r\n")],
    ),
    CONTENT_TYPES[ExportFormat.JSONL]: OpenApiResponse(
        str,
        "The file.",
        [OpenApiExample("JSON lines", '{"shortCode":"k3TzP9q","originalUrl":"https://example.com/"}\n')],
    ),
}

describe_transfers = extend_schema_view(
    import_urls=_operation(
        "importUrls",
        f"Import up to {MAX_ROWS} short links.",
        answer(
            "ImportUrls",
            "A result for each row.",
            "1 of 1 URLs can be imported; nothing was written.",
            data={
                "format": Part(ChoiceField(NAMES), "own"),
                "dryRun": Part(BooleanField(), True),
                **results("ImportUrls", _ROW, nested("ImportedUrl", _IMPORTED), at="row", status=201),
            },
        ),
        [
            invalid("content"),
            *(invalid("content", code, sentence) for code, sentence in _UNREADABLE.items()),
            *bad_bodies(ImportParser.max_bytes),
            NO_CREDENTIAL,
            NotFound("Domain not found."),
            *idempotency.REFUSALS,
        ],
        is_idempotent=True,
        body=OpenApiRequest(ImportSerializer, examples=[OpenApiExample("Example", {"content": _CSV})]),
        description="Takes this service's own export, or that of Bitly, YOURLS, Kutt, Shlink or Dub. Codes, dates of"
        " creation and numbers of clicks are kept. Nothing is written unless `dryRun` is false.",
    ),
    export_urls=_operation(
        "exportUrls",
        "Export one's short links, all or those that match.",
        _FILES,
        [BAD_TAGS, NO_CREDENTIAL, Busy()],
        parameters=[ExportQuery],
        description="The newest first. What is exported can be imported again; passwords are in no export.",
    ),
)
