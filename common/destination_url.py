"""Which addresses a short link may lead to, and the one spelling in which they are sent.

The parser is the one that browsers have (WHATWG URL, https://url.spec.whatwg.org/), so that the host
judged here is the host that a visitor reaches. The specification also repairs what nobody means to
write, such as tabs inside the scheme or backslashes for slashes. Those repairs are what attackers use
to make two readers see two hosts, so they are refused here although a browser would accept them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ada_url import URL

MAX_HREF_LENGTH = 2048
# Percent-encoding only lengthens, but dot segments, default ports and IDNA mapping shorten: the raw text
# may be longer than the limit, within reason.
MAX_RAW_LENGTH = 8192

_DEFAULT_PORTS = {"http:": 80, "https:": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ABSOLUTE = re.compile(r"https?://(?P<authority>[^/\\?#][^/?#]*)", re.IGNORECASE)


class InvalidDestination(ValueError):
    """Refusal of a destination: `code` for programs, `message` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Destination:
    """An accepted destination in the WHATWG serialisation: `href` and `host` are printable ASCII.

    `host` is a domain of A-labels (a final dot is kept), a dotted IPv4 address or a bracketed IPv6
    address. `port` is the port that a browser connects to, also where `href` leaves it out.
    """

    href: str
    host: str
    port: int


# A field judges an address and the rules behind it ask again what it means. Refusals are not kept.
@lru_cache(maxsize=16)
def canonical_destination(raw: str) -> Destination:
    """The destination that `raw` means to a browser, or `InvalidDestination`; no other exception."""
    if len(raw) > MAX_RAW_LENGTH:
        raise _too_long()
    if _CONTROL.search(raw):
        raise InvalidDestination(
            "control_character", "The address must not contain tabs, line breaks or other control characters."
        )
    text = raw.strip(" ")
    try:
        url = URL(text)
    except ValueError:  # Also UnicodeEncodeError, which lone surrogates raise.
        raise _invalid_url() from None

    default_port = _DEFAULT_PORTS.get(url.protocol)
    if default_port is None:
        raise InvalidDestination("unsupported_scheme", "The address must start with http:// or https://.")
    absolute = _ABSOLUTE.match(text)
    if absolute is None:
        raise _invalid_url()
    authority = absolute["authority"]
    # A browser ends the host at a backslash, RFC 3986 readers do not: http://a.example\@b.example/
    if "\\" in authority:
        raise InvalidDestination("backslash", "The host name must not contain a backslash.")
    # Looked for in the text, because the serialisation drops an empty user name.
    if "@" in authority:
        raise InvalidDestination("userinfo", "The address must not contain a user name or password.")

    port = int(url.port or default_port)
    if port == 0:
        raise InvalidDestination("port", "The port must be between 1 and 65535.")
    href = url.href
    if len(href) > MAX_HREF_LENGTH:
        raise _too_long()
    return Destination(href=href, host=url.hostname, port=port)


def _invalid_url() -> InvalidDestination:
    return InvalidDestination(
        "invalid_url", "Enter a complete web address, such as https://example.com/page."
    )


def _too_long() -> InvalidDestination:
    return InvalidDestination(
        "too_long", f"The address must not be longer than {MAX_HREF_LENGTH} characters."
    )
