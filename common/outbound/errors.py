from __future__ import annotations

from typing import Literal

Reason = Literal[
    "off",
    "not_https",
    "bad_url",
    "forbidden_address",
    "dns",
    "nxdomain",
    "unreachable",
    "refused",
    "tls",
    "timeout",
    "too_large",
    "protocol",
]


class OutboundError(Exception):
    """A request without an answer. ``reason`` is for programs, the text for the people who entered the address.

    ``dns``: the resolver failed. ``nxdomain``: the name does not exist, or has no address.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
