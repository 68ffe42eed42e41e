"""Refusals of any page: the status, the stable reason, and the text for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Words(NamedTuple):
    """Plain text of a domain's owner on a page for visitors. None: the service's own."""

    title: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """``page``: the name under which a domain may have its own words for it; empty: it may not. ``words``: those of
    the visited domain, which pages show and JSON does not.
    """

    status: int
    reason: str
    title: str
    message: str
    is_branded: bool = True
    page: str = ""
    words: Words | None = None


METHOD_NOT_ALLOWED = Refusal(
    405, "method_not_allowed", "Method not allowed", "This address does not support the request method."
)
BAD_REQUEST = Refusal(400, "bad_request", "Bad request", "The request is malformed.")
FORM_EXPIRED = Refusal(
    403, "csrf", "Form expired", "This form is no longer valid. Go back, reload the page and try again."
)
INTERNAL_ERROR = Refusal(
    500, "internal_error", "Something went wrong", "The error has been recorded. Try again in a moment."
)
