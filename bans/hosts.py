"""The host that a ban covers, from the name or address that an operator enters."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address, ip_network

from common.errors import FieldError, InvalidFields
from common.http.urls import InvalidDestination, canonical_destination

MAX_HOST_LENGTH = 253
# The database rejects hosts in any other form: a name of at least two A-labels, or an address as in a URL.
CANONICAL_HOST = r"^(\[[0-9a-f:.]+\]|[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+)$"
# A query for the names of banned hosts in URLs: each host, and the IPv6 form of an IPv4 address.
_HEXADECIMAL = "to_hex(256 * split_part(host, '.', {})::bigint + split_part(host, '.', {})::bigint)"
NAMES_IN_URLS = f"""
SELECT host AS name FROM bans_ban WHERE host IS NOT NULL
UNION ALL
SELECT '[::ffff:' || {_HEXADECIMAL.format(1, 2)} || ':' || {_HEXADECIMAL.format(3, 4)} || ']'
FROM bans_ban WHERE host ~ '^[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+$' AND length(host) <= 15
"""  # noqa: S608 # constants
_LABEL = r"[a-z0-9_-]{1,63}"
_CANONICAL_HOST = re.compile(CANONICAL_HOST)
_URL = re.compile(r"(?:https?:)?//", re.IGNORECASE)
# A browser ignores everything up to the last "@" of the authority when it looks for the host.
_USERINFO = re.compile(r"(?<=//)[^/?#\\]*@")


def canonical_host(text: str) -> str:
    """The canonical host of a host name, a wildcard such as ``*.evil.example``, an IP address or a URL.

    A ban includes the hosts below it, so a leading ``*.`` or dot adds nothing. Raises InvalidFields if the
    text is not a host, or is a top-level domain.
    """
    text = text.strip(" ")
    if _is_network(text):
        raise _invalid("network", "A ban covers single addresses, not networks.")
    try:
        host = canonical_destination(_as_url(text)).host
    except InvalidDestination as error:
        if error.code == "invalid_url":
            raise _not_a_host() from None
        raise _invalid(error.code, error.message) from None
    host = _without_ipv6_form(re.sub(r"^\*?\.", "", host.removesuffix(".")))
    if re.fullmatch(_LABEL, host):
        # Neither "http:/evil.example" nor "a/b" is a host, although "https://" before it gives a URL.
        if "/" in text and not _URL.match(text):
            raise _not_a_host()
        raise _invalid("single_label", "This would ban every host under this name.")
    if len(host) > MAX_HOST_LENGTH or not _CANONICAL_HOST.match(host):
        raise _not_a_host()
    return host


def _without_ipv6_form(host: str) -> str:
    """The IPv4 address of a host such as ``[::ffff:c000:207]``, which reaches the same server; else the host."""
    if not host.startswith("["):
        return host
    return str(IPv6Address(host[1:-1]).ipv4_mapped or host)


def _is_network(text: str) -> bool:
    """Whether the text is a network such as 192.0.2.0/24, which reads like a URL without a scheme."""
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _as_url(text: str) -> str:
    if _URL.match(text):
        text = _USERINFO.sub("", text, count=1)
        return f"https:{text}" if text.startswith("//") else text
    if "://" in text:
        return text
    try:
        return f"https://[{IPv6Address(text)}]"
    except AddressValueError:
        return f"https://{text}"


def _not_a_host() -> InvalidFields:
    return _invalid(
        "invalid_host", "This is not a host. Enter a name such as evil.example, an IP address or a URL."
    )


def _invalid(code: str, message: str) -> InvalidFields:
    return InvalidFields([FieldError("host", code, message)])
