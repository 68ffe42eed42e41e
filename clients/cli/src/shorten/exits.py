"""How the program ends when something is wrong: the exit code, and the message on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from .client.errors import ApiError, ConfigurationError, ConnectionFailed, ShortenerError

# The README documents these.
REFUSED = 1
USAGE = 2
CREDENTIAL = 3
NOT_FOUND = 4
CONFLICT = 5
UNAVAILABLE = 6
PARTLY = 7
INTERRUPTED = 130

_OF_STATUS = {
    401: CREDENTIAL,
    403: CREDENTIAL,
    404: NOT_FOUND,
    409: CONFLICT,
    412: CONFLICT,
    429: UNAVAILABLE,
}
_SERVER_ERROR = 500


class Failed(Exception):
    """Ends the program with a sentence."""

    def __init__(self, message: str, code: int = REFUSED) -> None:
        super().__init__(message)
        self.code = code


def code_of(error: ShortenerError) -> int:
    if isinstance(error, ApiError):
        return UNAVAILABLE if error.status >= _SERVER_ERROR else _OF_STATUS.get(error.status, REFUSED)
    if isinstance(error, ConfigurationError):
        return USAGE
    return UNAVAILABLE


def exit_code_of(program: Callable[[], object]) -> int:
    """Run the program. Errors go to stderr, as JSON if the caller wants JSON."""
    try:
        program()
    except SystemExit as end:
        # typer has told what is wrong with the arguments.
        return end.code if isinstance(end.code, int) else 0
    except Failed as failure:
        sys.stderr.write(f"shorten: {failure}\n")
        return failure.code
    except ShortenerError as error:
        _tell(error)
        return code_of(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"shorten: {error}\n")
        return REFUSED
    return 0


def _tell(error: ShortenerError) -> None:
    if "--json" in sys.argv:
        sys.stderr.write(json.dumps({"error": _described(error)}, ensure_ascii=False) + "\n")
        return
    sys.stderr.write(f"shorten: {error}\n")
    if isinstance(error, ApiError):
        for field in error.fields:
            hint = f" Did you mean {field.did_you_mean}?" if field.did_you_mean else ""
            sys.stderr.write(f"  {field.field}: {field.message} ({field.code}){hint}\n")
        if isinstance(error.details.get("docs"), str):
            sys.stderr.write(f"  What to do: {error.details['docs']}\n")
        if code_of(error) == CREDENTIAL:
            sys.stderr.write(
                "  Is the key the right one? `shorten config` shows which is used; `shorten login` sets it.\n"
            )
    elif isinstance(error, ConnectionFailed) and error.may_have_happened:
        sys.stderr.write("  Nobody knows whether the service has acted.\n")


def _described(error: ShortenerError) -> dict[str, Any]:
    if not isinstance(error, ApiError):
        return {"code": type(error).__name__, "message": str(error)}
    fields = [{"field": each.field, "code": each.code, "message": each.message} for each in error.fields]
    return {
        "status": error.status,
        "code": error.code,
        "message": error.message,
        "requestId": error.request_id,
        "errors": fields,
        "docs": error.details.get("docs"),
    }
