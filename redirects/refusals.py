"""All refusals of link requests: the status, the stable reason, and the text for people.

The owner of a domain can replace the texts of some pages (`domains.models.PAGES`); `in_words_of` does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import orjson

from links.availability import Closed
from pages.refusals import Refusal, Words

NOT_FOUND = Refusal(
    404,
    "not_found",
    "Link not found",
    "There is no link at this address. Check it for typing errors.",
    page="notFound",
)
# Says nothing about the service: anybody can point a name to its address.
UNKNOWN_HOST = Refusal(
    404,
    "not_found",
    "This host is not set up",
    "Nothing is available at this host name, or not yet.",
    is_branded=False,
)
DISABLED = Refusal(410, "disabled", "Link disabled", "This link has been disabled.", page="disabled")
# The owner of a banned link has no say in what its visitors read.
BANNED = replace(DISABLED, page="")
# RFC 7725.
LEGAL = Refusal(
    451, "legal", "Unavailable for legal reasons", "This link is blocked because of a legal demand."
)
NOT_STARTED = Refusal(
    404,
    "not_started",
    "Link not active yet",
    "This link is not active yet. Try again later.",
    page="notStarted",
)
EXPIRED = Refusal(
    410,
    "expired",
    "Link expired",
    "This link was valid for a limited time and has expired.",
    page="expired",
)
LIMIT_REACHED = Refusal(
    410,
    "limit_reached",
    "Link used up",
    "This link has reached the click limit that its owner set.",
    page="limitReached",
)
VISITOR_LIMIT_REACHED = Refusal(
    403,
    "visitor_limit_reached",
    "Link used up for you",
    "Your network has reached the click limit that the owner of this link set.",
    page="limitReached",
)
OF_CLOSED = {
    Closed.LEGAL: LEGAL,
    Closed.BANNED: BANNED,
    Closed.DISABLED: DISABLED,
    Closed.NOT_STARTED: NOT_STARTED,
    Closed.EXPIRED: EXPIRED,
    Closed.LIMIT_REACHED: LIMIT_REACHED,
    Closed.VISITOR_LIMIT_REACHED: VISITOR_LIMIT_REACHED,
    Closed.DELETED: NOT_FOUND,
}
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
    page="country",
)
DEVICE = Refusal(
    403,
    "device",
    "Not available on this device",
    "The owner of this link has not made it available on this type of device.",
    page="device",
)
PASSWORD = Refusal(
    401, "password", "Password required", "This link is protected by a password.", page="password"
)
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
UNAVAILABLE = Refusal(
    503,
    "unavailable",
    "Temporarily unavailable",
    "This link cannot be followed right now. Try again in a moment.",
)


@lru_cache(maxsize=1024)
def in_words_of(pages: str | None, refusal: Refusal) -> Refusal:
    """Return the refusal in the words of a domain's owner. ``pages``: JSON, as `Target.pages`."""
    words = orjson.loads(pages).get(refusal.page) if pages and refusal.page else None
    return refusal if words is None else replace(refusal, words=Words(words["title"], words["text"]))
