"""The responses that gunicorn itself writes to invalid requests and after errors, with the reason in a header."""

from __future__ import annotations

from typing import Any

from pages.refusals import BAD_REQUEST, INTERNAL_ERROR


class ErrorResponses:
    """A mixin for gunicorn's workers. gunicorn has no option to add a header to these responses."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        super().handle_error(req, _ErrorStream(client), addr, exc)  # type: ignore[misc] # the worker's method


class _ErrorStream:
    """Adds the header to the response that gunicorn sends in one piece."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def sendall(self, data: bytes) -> None:
        status_line, end, rest = data.partition(b"\r\n")
        self._client.sendall(
            b"%s%sX-Refusal-Reason: %s\r\n%s" % (status_line, end, _reason(status_line), rest)
        )


def _reason(status_line: bytes) -> bytes:
    """All errors but 500 are the client's, also 501: it sent an unknown transfer coding."""
    is_internal = status_line.startswith(b"HTTP/1.1 500 ")
    return (INTERNAL_ERROR if is_internal else BAD_REQUEST).reason.encode("ascii")
