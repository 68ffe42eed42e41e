"""Connections to addresses that were checked, with one deadline and one budget of bytes for everything."""

from __future__ import annotations

import io
import socket
import ssl
from collections.abc import Sequence
from functools import cache
from time import monotonic

from common.outbound.addresses import Address
from common.outbound.errors import OutboundError

# A host with many addresses that do not answer must not cost more than one with few.
_MAX_ADDRESSES = 4


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._at = monotonic() + seconds

    def left(self) -> float:
        """The seconds to the deadline. Raises OutboundError after it."""
        left = self._at - monotonic()
        if left <= 0:
            raise late()
        return left


def late() -> OutboundError:
    return OutboundError("timeout", "The host did not answer in time.")


def connect(addresses: Sequence[Address], port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first address that accepts. Each gets its share of the time that is left."""
    error = OutboundError("unreachable", "The host cannot be reached.")
    tried = addresses[:_MAX_ADDRESSES]
    for number, address in enumerate(tried):
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        try:
            connection = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            # No socket is left, or the host has no IPv6.
            continue
        try:
            connection.settimeout(deadline.left() / (len(tried) - number))
            connection.connect((str(address), port))
        except BaseException as failure:
            connection.close()
            if not isinstance(failure, OSError):
                raise
            if isinstance(failure, TimeoutError):
                error = late()
            elif isinstance(failure, ConnectionRefusedError):
                error = OutboundError("refused", "The host refuses connections.")
        else:
            return connection
    raise error


def with_tls(connection: socket.socket, host: str, deadline: Deadline) -> ssl.SSLSocket:
    """Encrypt a connection to ``host``, whose certificate must be valid for this name or address."""
    connection.settimeout(deadline.left())
    try:
        return tls_context().wrap_socket(connection, server_hostname=host)
    except TimeoutError:
        raise late() from None
    except (ssl.SSLError, ssl.CertificateError) as error:
        reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or "no TLS"
        raise OutboundError("tls", f"The host has no valid certificate for its name: {reason}.") from None


@cache
def tls_context() -> ssl.SSLContext:
    """Reading the certificates of the system takes 20 ms."""
    return ssl.create_default_context()


class Channel:
    """A socket for `http.client`. No single wait outlasts the deadline, and ``bytes_left`` bounds what is read."""

    def __init__(self, connection: socket.socket, deadline: Deadline, bytes_left: int) -> None:
        self._connection, self._deadline = connection, deadline
        self.bytes_left = bytes_left

    def sendall(self, content: bytes) -> None:
        view = memoryview(content)
        while view:
            self._connection.settimeout(self._deadline.left())
            view = view[self._connection.send(view) :]

    def receive(self, buffer: memoryview) -> int:
        if self.bytes_left <= 0:
            raise OutboundError("too_large", "The answer of the host is too large.")
        self._connection.settimeout(self._deadline.left())
        count = self._connection.recv_into(buffer[: self.bytes_left])
        self.bytes_left -= count
        return count

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Bytes(self))

    def close(self) -> None:
        """`http.client` closes a connection before it has read the body, which may end with the connection."""


class _Bytes(io.RawIOBase):
    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # io passes memoryviews
        return self._channel.receive(buffer)
