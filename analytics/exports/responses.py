"""Responses with files: a report at once, because it is small, and long lists as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request

from accounts.callers import caller_of, workspace_of
from accounts.downloads import Download
from analytics.exports.archive import archived
from analytics.exports.formats import FORMATS, JSON, written
from analytics.exports.tables import Table, report_table
from common.rest.fields import iso_utc

ZIP = "application/zip"


def in_format(
    request: Request, query: Mapping[str, Any], data: dict[str, Any]
) -> dict[str, Any] | HttpResponseBase:
    """The data of a report, or the response with its file, if the query wants one."""
    if query["file_format"] == JSON:
        return data
    return whole_file(request, query, "report", report_table(data))


def whole_file(request: Request, query: Mapping[str, Any], subject: str, table: Table) -> HttpResponseBase:
    return _file(query, subject, HttpResponse(b"".join(_chunks(request, query, subject, table))))


def streamed_file(request: Request, query: Mapping[str, Any], subject: str, table: Table) -> HttpResponseBase:
    """Raises Busy. The server never reads or closes the stream of a HEAD response, so that has none."""
    chunks: Iterable[bytes] = ()
    if request.method == "GET":
        chunks = Download(
            _chunks(request, query, subject, table),
            workspace=workspace_of(request).pk,
            account=caller_of(request).id,
        )
    return _file(query, subject, StreamingHttpResponse(chunks))


def _chunks(request: Request, query: Mapping[str, Any], subject: str, table: Table) -> Iterator[bytes]:
    file_format = query["file_format"]
    if not query["manifest"]:
        return written(table, file_format)
    origin = {
        "createdAt": iso_utc(timezone.now()),
        "path": request.path,
        "query": request.query_params.dict(),
    }
    return archived(table, file_format, name=_name(subject, file_format), query=origin)


def _file(query: Mapping[str, Any], subject: str, response: HttpResponseBase) -> HttpResponseBase:
    file_format = query["file_format"]
    name = _name(subject, "zip" if query["manifest"] else file_format)
    response["Content-Type"] = ZIP if query["manifest"] else FORMATS[file_format][0]
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _name(subject: str, extension: str) -> str:
    return f"{subject}-{timezone.now():%Y-%m-%d}.{extension}"
