"""A DNS server on the loopback interface, over UDP and TCP, with configurable records and faults."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

TTL = 300
NEGATIVE_TTL = 60


@dataclass
class DnsServer:
    """``records`` by (name, type). A negative answer comes from the zone of ``zones`` that contains the name, or the
    root.

    ``silent``, ``silent_tcp``: never respond. ``delay``: seconds before each response. ``truncate``: respond with
    records over TCP only. ``garbage``: respond with bytes that are not a DNS message. ``rcode``: the code of every
    response. ``hostile``: returns the bytes of the response instead, or None for no response. Over TCP: ``drip``
    seconds between the bytes of a response, and a length that is ``wrong_length`` too large. ``flood``: the number of
    datagrams with wrong ids before each response. ``queries``: the queries received, as (name, type, transport).
    ``replies``: the number of responses sent over UDP.
    """

    address: tuple[str, int]
    records: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    zones: list[str] = field(default_factory=list)
    silent: bool = False
    silent_tcp: bool = False
    garbage: bool = False
    delay: float = 0.0
    truncate: bool = False
    rcode: dns.rcode.Rcode | None = None
    hostile: Callable[[dns.message.Message, str], bytes | None] | None = None
    drip: float = 0.0
    wrong_length: int = 0
    flood: int = 0
    stop: Event = field(default_factory=Event)
    queries: list[tuple[str, str, str]] = field(default_factory=list)
    replies: int = 0

    @property
    def name(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def set(self, name: str, kind: str, *values: str) -> None:
        self.records[name.lower(), kind] = list(values)

    def remove(self, name: str, kind: str) -> None:
        self.records.pop((name.lower(), kind), None)

    def answer(self, wire: bytes, transport: str) -> bytes | None:
        query = dns.message.from_wire(wire)
        [question] = query.question
        name = question.name.to_text(omit_final_dot=True).lower()
        self.queries.append((name, dns.rdatatype.to_text(question.rdtype), transport))
        if self.silent or (self.silent_tcp and transport == "TCP"):
            return None
        self.stop.wait(self.delay)
        if self.hostile is not None:
            return self.hostile(query, transport)
        if self.garbage:
            return wire[:2] + b"\xff" * 40
        response = dns.message.make_response(query)
        if self.rcode is not None:
            response.set_rcode(self.rcode)
        elif self.truncate and transport == "UDP":
            response.flags |= dns.flags.TC
        else:
            self._fill(response, name, question.rdtype)
        try:
            return response.to_wire(max_size=query.payload if transport == "UDP" else 65535)
        except dns.exception.TooBig:
            short = dns.message.make_response(query)
            short.flags |= dns.flags.TC
            return short.to_wire()

    def _fill(self, response: dns.message.Message, name: str, kind: dns.rdatatype.RdataType) -> None:
        type_name = dns.rdatatype.to_text(kind)
        seen = set()
        while name not in seen:
            seen.add(name)
            if values := self._lookup(name, type_name):
                response.answer.append(dns.rrset.from_text(f"{name}.", TTL, "IN", type_name, *values))
                return
            alias = self._lookup(name, "CNAME")
            if not alias or type_name == "CNAME":
                break
            response.answer.append(dns.rrset.from_text(f"{name}.", TTL, "IN", "CNAME", *alias))
            name = alias[0].rstrip(".")
        if not self._exists(name):
            response.set_rcode(dns.rcode.NXDOMAIN)
        zone = next((zone for zone in self.zones if name == zone or name.endswith(f".{zone}")), "")
        soa = f"ns.{zone or 'root'}. admin.{zone or 'root'}. 1 2 3 4 {NEGATIVE_TTL}"
        response.authority.append(dns.rrset.from_text(f"{zone}.", TTL, "IN", "SOA", soa))

    def _lookup(self, name: str, kind: str) -> list[str]:
        """A wildcard does not apply to a name that has a record of any type (RFC 4592)."""
        if self._has_records(name):
            return self.records.get((name, kind), [])
        _, _, parent = name.partition(".")
        while parent:
            if values := self.records.get((f"*.{parent}", kind)):
                return values
            if self._exists(parent):
                return []
            _, _, parent = parent.partition(".")
        return []

    def _has_records(self, name: str) -> bool:
        return any(owner == name for owner, _ in self.records)

    def _exists(self, name: str) -> bool:
        return name in self.zones or any(
            owner == name or owner.endswith(f".{name}") for owner, _ in self.records
        )


@contextmanager
def dns_server() -> Iterator[DnsServer]:
    udp, tcp = _one_port()
    server = DnsServer(udp.getsockname())
    threads = [
        Thread(target=_serve_udp, args=(server, udp), daemon=True),
        Thread(target=_serve_tcp, args=(server, tcp), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield server
    finally:
        server.stop.set()
        # A thread that outlived its socket could use another one with the same descriptor.
        for thread in threads:
            thread.join()
        udp.close()
        tcp.close()


def _one_port() -> tuple[socket.socket, socket.socket]:
    """Bind UDP and TCP sockets to the same port."""
    while True:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tcp = socket.create_server(("127.0.0.1", 0), backlog=128)
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            udp.close()
            tcp.close()
        else:
            return udp, tcp


def _serve_udp(server: DnsServer, udp: socket.socket) -> None:
    udp.settimeout(0.05)

    def reply(wire: bytes, client: tuple[str, int]) -> None:
        answer = server.answer(wire, "UDP")
        for number in range(server.flood):
            udp.sendto(struct.pack("!H", number) + b"\x81\x80" + bytes(8), client)
        if answer is not None and not server.stop.is_set():
            udp.sendto(answer, client)
            server.replies += 1

    delayed: list[Thread] = []
    while not server.stop.is_set():
        try:
            wire, client = udp.recvfrom(65535)
        except TimeoutError:
            continue
        if server.delay:
            delayed.append(Thread(target=reply, args=(wire, client), daemon=True))
            delayed[-1].start()
        else:
            reply(wire, client)
    for thread in delayed:
        thread.join()


def _serve_tcp(server: DnsServer, tcp: socket.socket) -> None:
    tcp.settimeout(0.05)
    while not server.stop.is_set():
        try:
            connection, _ = tcp.accept()
        except TimeoutError:
            continue
        Thread(target=_talk, args=(server, connection), daemon=True).start()


def _talk(server: DnsServer, connection: socket.socket) -> None:
    # An error of one client must not stop the server.
    with connection, suppress(OSError, struct.error):
        connection.settimeout(60)
        size = connection.recv(2, socket.MSG_WAITALL)
        answer = server.answer(connection.recv(*struct.unpack("!H", size), socket.MSG_WAITALL), "TCP")
        if answer is None:
            server.stop.wait()
            return
        whole = struct.pack("!H", len(answer) + server.wrong_length) + answer
        if not server.drip:
            connection.sendall(whole)
            return
        for byte in whole:
            connection.sendall(bytes([byte]))
            if server.stop.wait(server.drip):
                return
