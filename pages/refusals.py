"""Refusals of any page: the status, the stable reason, and the text for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    reason: str
    title: str
    message: str
    is_branded: bool = True


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
