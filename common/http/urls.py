"""Hosts, and the URLs that a short link may redirect to, in their canonical form.

The parser is the one that browsers use (WHATWG URL, https://url.spec.whatwg.org/), so the host that is checked here is
the host that a visitor reaches. The standard also repairs input that nobody intends, such as tabs inside the scheme or
backslashes instead of slashes. Attackers use these repairs to make two parsers see two hosts, so this module rejects
such input although a browser would accept it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ada_url import URL

# The longest line of the head of a request, in every server of the service. Longer ones get 414 or 431.
MAX_LINE = 8190

_HOST = re.compile(
    r"([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{0,5})?", re.ASCII
)

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


def canonical_host(header: str) -> str | None:
    """The host in lower case, without port and trailing dot. None if the header is not a host name (RFC 9110 7.2)."""
    # Check before lower-casing, which turns some non-ASCII letters into ASCII.
    match = _HOST.fullmatch(header.lower()) if header.isascii() else None
    return match[1].removesuffix(".") if match else None


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP address literal or ``localhost``."""
    return host.startswith("[") or host == "localhost" or host.replace(".", "").isdigit()


MAX_HREF_LENGTH = 2048
# Percent-encoding only lengthens a URL, but dot segments, default ports and IDNA mapping shorten it, so the
# raw text may exceed the limit, within reason.
MAX_RAW_LENGTH = 8192

_DEFAULT_PORTS = {"http:": 80, "https:": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ABSOLUTE = re.compile(r"https?://(?P<authority>[^/\\?#][^/?#]*)", re.IGNORECASE)


class InvalidDestination(ValueError):
    """A rejected destination: `code` for programs, `message` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Destination:
    """An accepted destination. `text` is the input as received; `href` and `host` are its WHATWG serialisation, in
    printable ASCII.

    `host` is a domain of A-labels (a final dot is kept), a dotted IPv4 address or a bracketed IPv6 address.
    `port` is the port that a browser connects to, even if `href` omits it.
    """

    href: str
    host: str
    port: int
    text: str = field(compare=False, default="")


def canonical_destination(raw: str) -> Destination:
    """The destination that `raw` means to a browser. Raises InvalidDestination and nothing else."""
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
    # A browser ends the host at a backslash; RFC 3986 parsers do not: http://a.example\@b.example/
    if "\\" in authority:
        raise InvalidDestination("backslash", "The host name must not contain a backslash.")
    # Search the text, because the serialisation drops an empty user name.
    if "@" in authority:
        raise InvalidDestination("userinfo", "The address must not contain a user name or password.")

    port = int(url.port or default_port)
    if port == 0:
        raise InvalidDestination("port", "The port must be between 1 and 65535.")
    href = url.href
    if len(href) > MAX_HREF_LENGTH:
        raise _too_long()
    return Destination(href=href, host=url.hostname, port=port, text=raw)


def _invalid_url() -> InvalidDestination:
    return InvalidDestination(
        "invalid_url", "Enter a complete web address, such as https://example.com/page."
    )


def _too_long() -> InvalidDestination:
    return InvalidDestination(
        "too_long", f"The address must not be longer than {MAX_HREF_LENGTH} characters."
    )
