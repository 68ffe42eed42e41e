"""The limit of open files of this process, which decides how many connections it can keep."""

from __future__ import annotations

import resource

# Descriptors of a web worker besides client connections: listeners, database, journal, metrics, files being sent.
RESERVED = 512
CONNECTIONS = 20_000
MINIMUM = 1024


class TooFewOpenFiles(Exception):
    """The message tells the operator how to raise the limit."""


def raise_limit() -> int:
    """Raise the soft limit of this process and its children to the hard limit, and return it.

    Raises TooFewOpenFiles if the limit is too low for the service.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # the kernel's own limit (fs.nr_open) is lower
            soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = CONNECTIONS + RESERVED if soft == resource.RLIM_INFINITY else soft
    if limit < MINIMUM:
        raise TooFewOpenFiles(
            f"The limit of open files is {limit}, and the service needs at least {MINIMUM}. "
            "Raise it with `ulimit -n 65536`, or LimitNOFILE=65536 in a systemd unit."
        )
    return limit


def connections_within(limit: int) -> int:
    """How many connections a web worker can keep open within this limit of open files."""
    return min(CONNECTIONS, limit - RESERVED)


def shortage(limit: int) -> str:
    """A warning for the operator; empty if the limit is high enough."""
    connections = connections_within(limit)
    if connections >= CONNECTIONS:
        return ""
    return (
        f"The limit of open files ({limit:,}) lets each web worker keep {connections:,} connections instead of "
        f"{CONNECTIONS:,}. Raise it to {CONNECTIONS + RESERVED:,} or more."
    )
