"""Messages of the Model Context Protocol over HTTP: JSON-RPC 2.0, one message in a request.

Revision 2026-07-28 describes itself in each request: ``_meta`` has its revision and the client's capabilities, and the
headers repeat what proxies need. Earlier revisions agree on theirs with ``initialize``.
See https://modelcontextprotocol.io/specification.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from common.errors import BadBody
from common.rest.strict_json import parse_object

MODERN = "2026-07-28"
# Those before allowed several messages in a request.
WITH_HANDSHAKE = ("2025-11-25", "2025-06-18")
REVISIONS = (MODERN, *WITH_HANDSHAKE)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_REVISION = -32022
# Of responses in the current revision. Clients of earlier ones read only errors with status 200.
_STATUS = {METHOD_NOT_FOUND: 404}
_UNREADABLE = (PARSE_ERROR, INVALID_REQUEST, UNSUPPORTED_REVISION)

_REVISION_OF = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_OF = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
# The parameter that the header Mcp-Name repeats.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class RpcError(Exception):
    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def status(self, *, is_modern: bool) -> int:
        return _STATUS.get(self.code, 400) if is_modern or self.code in _UNREADABLE else 200

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        return shown if self.data is None else {**shown, "data": self.data}


class Message(NamedTuple):
    """A request, or a notification, which has no ``id`` and gets no response."""

    id: str | int | None
    method: str
    params: dict[str, Any]

    @property
    def is_notification(self) -> bool:
        return self.id is None


def read_message(body: bytes) -> Message:
    """Raises RpcError, or BodyTooLarge."""
    try:
        value = parse_object(body)
    except BadBody as error:
        raise RpcError(INVALID_REQUEST if _is_json(body) else PARSE_ERROR, error.message) from None
    identifier, method, params = value.get("id"), value.get("method"), value.get("params", {})
    # Responses repeat it, and JSON's writer knows no larger numbers.
    is_number = isinstance(identifier, int) and not isinstance(identifier, bool) and abs(identifier) < 2**63
    is_identified = isinstance(identifier, str) or is_number
    if (
        value.get("jsonrpc") != "2.0"
        or not isinstance(method, str)
        or not isinstance(params, dict)
        or ("id" in value and not is_identified)
    ):
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 request or notification.")
    return Message(identifier, method, params)


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def is_modern(message: Message, meta: Mapping[str, Any]) -> bool:
    """Whether the message is of the current revision. ``meta`` has the headers of its request.

    Raises RpcError for a revision that is not served, and for headers that do not say the same as the message.
    """
    header = meta.get("HTTP_MCP_PROTOCOL_VERSION")
    envelope = message.params.get("_meta")
    envelope = envelope if isinstance(envelope, dict) else {}
    if header in WITH_HANDSHAKE or (header is None and _REVISION_OF not in envelope):
        return False
    if message.is_notification:
        _require_served(header)
        return True
    if missing := [name for name in (_REVISION_OF, _CAPABILITIES_OF) if name not in envelope]:
        if header is not None:
            _require_served(header)
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    if header != envelope[_REVISION_OF]:
        raise _mismatch("MCP-Protocol-Version", _REVISION_OF)
    if meta.get("HTTP_MCP_METHOD") != message.method:
        raise _mismatch("Mcp-Method", "method")
    if (parameter := _NAMED.get(message.method)) is not None:
        name = message.params.get(parameter)
        if name is not None and _decoded(meta.get("HTTP_MCP_NAME")) != name:
            raise _mismatch("Mcp-Name", f"params.{parameter}")
    _require_served(header)
    return True


def _require_served(revision: Any) -> None:
    if revision not in REVISIONS:
        data = {"supported": list(REVISIONS), "requested": revision}
        raise RpcError(UNSUPPORTED_REVISION, "This revision of the protocol is not served.", data)


def _mismatch(header: str, member: str) -> RpcError:
    return RpcError(HEADER_MISMATCH, f"The header {header} does not equal {member} of the message.")


_ENCODED, _END = "=?base64?", "?="


def _decoded(header: str | None) -> str | None:
    """Names that a header cannot hold are sent in base64. None for an invalid one."""
    if header is None or not (header.startswith(_ENCODED) and header.endswith(_END)):
        return header
    try:
        return base64.b64decode(header[len(_ENCODED) : -len(_END)], validate=True).decode()
    except ValueError:
        return None
