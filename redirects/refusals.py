"""Every way in which a link is not followed: its status, its stable reason and its words for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    reason: str
    title: str
    message: str


NOT_FOUND = Refusal(
    404, "not_found", "Link not found", "There is no link at this address. Check it for typing errors."
)
DISABLED = Refusal(410, "disabled", "Link disabled", "The owner of this link has switched it off.")
EXPIRED = Refusal(410, "expired", "Link expired", "This link was valid for a limited time, which is over.")
LIMIT_REACHED = Refusal(
    410, "limit_reached", "Link used up", "This link has been followed as often as its owner allows."
)
COUNTRY = Refusal(
    403, "country", "Not available in your country", "The owner of this link does not offer it where you are."
)
DEVICE = Refusal(
    403,
    "device",
    "Not available on this device",
    "The owner of this link does not offer it for the kind of device you use.",
)
PASSWORD = Refusal(401, "password", "Password required", "This link is protected by a password.")
WRONG_PASSWORD = Refusal(
    401, "password", "Wrong password", "That is not the password of this link. Try again."
)
RATE_LIMITED = Refusal(
    429,
    "rate_limited",
    "Too many attempts",
    "Too many wrong passwords were tried. Wait a while before you try again.",
)
GUESSING = Refusal(
    429,
    "rate_limited",
    "Too many unknown links",
    "Too many addresses without a link were asked for from your network. Wait a minute before you try another.",
)
LOGIN_LIMITED = Refusal(
    429,
    "rate_limited",
    "Too many attempts",
    "Too many logins have failed. Wait a while before you try again.",
)
UNAVAILABLE = Refusal(
    503,
    "unavailable",
    "Temporarily unavailable",
    "This link cannot be followed right now. Try again in a moment.",
)
METHOD_NOT_ALLOWED = Refusal(
    405, "method_not_allowed", "Method not allowed", "A link can only be opened, not written to."
)
BAD_REQUEST = Refusal(400, "bad_request", "Bad request", "The request is not one that a browser would send.")
FORM_EXPIRED = Refusal(
    403, "csrf", "Form expired", "This form is no longer valid. Go back, reload the page and try again."
)
INTERNAL_ERROR = Refusal(
    500, "internal_error", "Something went wrong", "The error has been recorded. Try again in a moment."
)
