"""Versions of objects as entity tags, and updates on the condition of a version (RFC 9110, 8.8.3 and 13.1.1).

A version is the time of the object's last change. Writers make it strictly increasing. It does not include counters,
such as clicks.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import ServiceError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# At most 14 digits, because datetime ends with the year 9999.
_TAG = re.compile(r'"([0-9a-f]{1,14})"')


class BadIfMatch(ServiceError):
    code = "bad_if_match"
    message = "If-Match must be the ETag of a response, with its quotes."


def with_etag(response: Response, version: datetime) -> Response:
    response["ETag"] = f'"{(version - _EPOCH) // _MICROSECOND:x}"'
    return response


def required_versions(request: Request) -> list[datetime] | None:
    """The versions that ``If-Match`` allows. None: any. Tags that are weak or unknown allow none.

    Raises BadIfMatch if the header has no tag.
    """
    header: str | None = request.META.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return None
    tags = parse_etags(header)
    if not tags:
        raise BadIfMatch
    matches = map(_TAG.fullmatch, tags)
    return [_EPOCH + int(match[1], 16) * _MICROSECOND for match in matches if match is not None]
