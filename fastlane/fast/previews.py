"""Previews (``GET /{code}+``) in the event loop. A preview is not a click, has no record, and is not in the metrics of
redirects.
"""

from __future__ import annotations

from functools import lru_cache

from fastlane.fast.answers import Page, encode_page
from fastlane.fast.request_head import NotSimple
from redirects.preview import preview_body, preview_response

_END = b"+ HTTP/1.1"
_LOCATION = b"Location: "


def link_request(data: bytes) -> bytes:
    """Return the request for the link itself. Raises NotSimple for other requests, and if the preview has a query: the
    link of its page would contain it.
    """
    line, _, block = data.partition(b"\r\n")
    if not line.endswith(_END) or line.endswith(b"/" + _END) or b"?" in line:
        raise NotSimple
    return line.removesuffix(_END) + b" HTTP/1.1\r\n" + block


def preview_page(code: bytes, headers: bytes, *, in_json: bool, hsts: int) -> Page:
    """``headers``: those of a redirect, which begin with its location."""
    destination = headers[len(_LOCATION) : headers.index(b"\r\n")].decode("ascii")
    body = preview_body(f"/{code.decode('ascii')}", destination, in_json=in_json).encode()
    return Page(200, b"%s%d\r\n\r\n" % (preview_headers(in_json, hsts), len(body)), body)


@lru_cache(maxsize=64)
def preview_headers(in_json: bool, hsts: int) -> bytes:
    """The lines after the first ones, without the value of the last one, Content-Length."""
    return encode_page(preview_response("", in_json=in_json), hsts).headers.removesuffix(b"0\r\n\r\n")
