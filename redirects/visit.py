"""A request for a link, as the conditions of rules see it, with the language that its visitor prefers.

``Visit`` trades clarity for speed: positional arguments, and properties that compute a value when it is first needed.
bench/results.csv, "Redirects", has the rate of links with rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_plus, urlsplit

from analytics.visitors.geo import geo
from analytics.visitors.useragent import UNKNOWN, Agent, parse_agent
from analytics.visitors.visitor import Visitor
from common.http.client_address import ip_number
from common.http.languages import MAX_CHARACTERS, preferred_language

# Conditions have no longer ranges.
MAX_RANGE = 35


def prefixes(tag: str) -> frozenset[str]:
    """Return the language ranges that match the tag in basic filtering (RFC 4647, section 3.3.1): those of ``de-at``
    are ``de-at`` and ``de``. Ranges of more than MAX_RANGE characters are left out.
    """
    subtags = (tag if len(tag) <= MAX_RANGE else tag[: MAX_RANGE + 1].rpartition("-")[0]).split("-")
    return frozenset("-".join(subtags[:count]) for count in range(1, len(subtags) + 1))


# An entry takes at most 5 KB: MAX_RANGE bounds the number of ranges, and the caller the length of the header.
@lru_cache(maxsize=1024)
def preferred_ranges(header: str) -> frozenset[str]:
    """Return the ranges that match the preferred language; none if there is no such language."""
    language = preferred_language(header)
    return frozenset() if language is None else prefixes(language)


# Parameters beyond this number match no condition.
_MAX_PARAMETERS = 1000
# A longer host name cannot be in a condition.
_MAX_HOST = 253


class Parameters(NamedTuple):
    """Decoded parameters of a query. A parameter without "=" has an empty value."""

    names: Set[str]
    pairs: Set[tuple[str, str]]


class Visit:
    """Reads nothing before a condition needs it: most rules read one or two of these properties.

    ``accept_language`` and ``query`` are the header and the raw query string. ``country`` and ``device`` replace the
    values that the address and the user agent imply.
    """

    __slots__ = (
        "_country",
        "_device",
        "_parameters",
        "_referrer_hosts",
        "accept_language",
        "address",
        "query",
        "referrer",
        "scanned",
        "user_agent",
    )

    def __init__(  # noqa: PLR0917 # the fast lane calls it on each redirect by rules
        self,
        address: str,
        user_agent: str,
        referrer: str = "",
        accept_language: str = "",
        query: str = "",
        scanned: bool = False,
        country: str | None = None,
        device: str | None = None,
    ) -> None:
        self.address = address
        self.user_agent = user_agent
        self.referrer = referrer
        self.accept_language = accept_language
        self.query = query
        self.scanned = scanned
        self._country: str | None = country
        self._device = device
        self._parameters: Parameters | None = None
        self._referrer_hosts: frozenset[str] | None = None

    @classmethod
    def from_visitor(cls, visitor: Visitor, meta: Mapping[str, str]) -> Visit:
        """Return the visit of a request. ``meta``: its WSGI environment."""
        return cls(
            visitor.address,
            visitor.user_agent,
            visitor.referrer,
            meta.get("HTTP_ACCEPT_LANGUAGE", ""),
            _decoded(meta.get("QUERY_STRING", "")),
            visitor.scanned,
        )

    @property
    def country(self) -> str | None:
        """The ISO 3166-1 code; None if it is unknown."""
        if self._country is None:
            self._country = geo().country_of(self.address) or ""
        return self._country or None

    @property
    def agent(self) -> Agent:
        return parse_agent(self.user_agent)

    @property
    def device(self) -> str:
        return self._device or self.agent.form_factor

    @property
    def operating_system(self) -> str | None:
        """The name in reports; None if it is unknown."""
        return _known(self.agent.operating_system)

    @property
    def browser(self) -> str | None:
        """The name in reports; None if it is unknown."""
        return _known(self.agent.browser)

    @property
    def language(self) -> str | None:
        return preferred_language(self.accept_language)

    @property
    def language_ranges(self) -> frozenset[str]:
        """The preferred language and those that contain it: of ``de-at`` also ``de``."""
        return preferred_ranges(self.accept_language[:MAX_CHARACTERS])

    @property
    def referrer_host(self) -> str | None:
        """The host in lower case, empty without a referrer, None if the referrer names no host."""
        return _host_of(self.referrer)

    @property
    def referrer_hosts(self) -> frozenset[str]:
        """The referrer's host and the domains that contain it. Without a referrer: only the empty string."""
        if self._referrer_hosts is None:
            self._referrer_hosts = _host_and_domains(self.referrer_host)
        return self._referrer_hosts

    @property
    def ip(self) -> tuple[int, int] | None:
        """The number of bits of the address (32 or 128) and its value; None if it is unknown."""
        return ip_number(self.address)

    @property
    def parameters(self) -> Parameters:
        if self._parameters is None:
            self._parameters = _parameters(self.query)
        return self._parameters


def _decoded(query: str) -> str:
    """WSGI presents bytes as latin-1; browsers send UTF-8."""
    return query if query.isascii() else query.encode("latin-1", "replace").decode("utf-8", "replace")


def _known(name: str) -> str | None:
    return name if name and name != UNKNOWN else None


@lru_cache(maxsize=4096)
def _host_of(referrer: str) -> str | None:
    if not referrer:
        return ""
    try:
        host = urlsplit(referrer).hostname
    except ValueError:
        return None
    return host.removesuffix(".") if host else None


def _host_and_domains(host: str | None) -> frozenset[str]:
    if not host:
        return frozenset() if host is None else frozenset(("",))
    if len(host) > _MAX_HOST:
        host = host[-_MAX_HOST - 1 :].partition(".")[2]
    names = set()
    while host:
        names.add(host)
        host = host.partition(".")[2]
    return frozenset(names)


def _parameters(query: str) -> Parameters:
    # Repeated parameters are decoded once.
    pieces = {piece for piece in query.split("&", _MAX_PARAMETERS)[:_MAX_PARAMETERS] if piece}
    split = [piece.partition("=") for piece in pieces]
    pairs = {(unquote_plus(name), unquote_plus(value)) for name, _, value in split}
    return Parameters({name for name, _ in pairs}, pairs)
