"""All refusals of link requests: the status, the stable reason, and the text for people."""

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
# Says nothing about the service: anybody can point a name to its address.
UNKNOWN_HOST = Refusal(
    404, "not_found", "This host is not set up", "Nothing is available at this host name, or not yet."
)
DISABLED = Refusal(410, "disabled", "Link disabled", "The owner of this link has disabled it.")
# RFC 7725.
LEGAL = Refusal(
    451, "legal", "Unavailable for legal reasons", "This link is blocked because of a legal demand."
)
NOT_STARTED = Refusal(
    404, "not_started", "Link not active yet", "This link is not active yet. Try again later."
)
EXPIRED = Refusal(410, "expired", "Link expired", "This link was valid for a limited time and has expired.")
LIMIT_REACHED = Refusal(
    410, "limit_reached", "Link used up", "This link has reached the click limit that its owner set."
)
VISITOR_LIMIT_REACHED = Refusal(
    403,
    "visitor_limit_reached",
    "Link used up for you",
    "Your network has reached the click limit that the owner of this link set.",
)
CAPPED = Refusal(
    403,
    "capped",
    "Limited link",
    "This link has a click limit. Only a visit that counts as a click gets the destination.",
)
COUNTRY = Refusal(
    403,
    "country",
    "Not available in your country",
    "The owner of this link has not made it available in your country.",
)
DEVICE = Refusal(
    403,
    "device",
    "Not available on this device",
    "The owner of this link has not made it available on this type of device.",
)
PASSWORD = Refusal(401, "password", "Password required", "This link is protected by a password.")
WRONG_PASSWORD = Refusal(
    401, "password", "Wrong password", "That is not the password of this link. Try again."
)
NO_PASSWORD_OBJECT = Refusal(
    400,
    "bad_request",
    "Bad request",
    'Send a JSON object such as {"password": "..."}, with its Content-Length.',
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
    "Your network has requested too many unknown links. Links that it has not followed before are blocked for a "
    "while.",
)
LOGIN_LIMITED = Refusal(
    429,
    "rate_limited",
    "Too many attempts",
    "Too many logins have failed. Wait a while before you try again.",
)
PAGES_LIMITED = Refusal(
    429, "rate_limited", "Too many requests", "Your network has requested too many pages. Wait a minute."
)
# The text of a response adds when to try again.
MAILS_LIMITED = Refusal(
    429,
    "rate_limited",
    "Too many mails",
    "Too many mails were requested from your network or for this address.",
)
MAIL_FAILED = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server does not respond. Try again in a minute.",
)
MAIL_DELAYED = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server cannot take the mail at the moment. Try again in 5 minutes.",
)
MAIL_NO_ACCESS = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server does not accept the login of this service. Tell its operator.",
)
MAIL_ADDRESS = Refusal(
    400,
    "bad_address",
    "The mail could not be sent",
    "The mail server does not deliver to this address. Check it for typing errors.",
)
MAIL_REFUSED = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server refused the mail. Tell the operator of this service, whose log has the reason.",
)
PROVIDER_FAILED = Refusal(
    503,
    "unavailable",
    "Single sign-on is not available",
    "The identity provider does not respond. Try again later.",
)
UNAVAILABLE = Refusal(
    503,
    "unavailable",
    "Temporarily unavailable",
    "This link cannot be followed right now. Try again in a moment.",
)
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
