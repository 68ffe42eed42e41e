"""A DNS server on the loopback interface, over UDP and TCP, that answers what a test tells it to."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

TTL = 300
NEGATIVE_TTL = 60


@dataclass
class DnsServer:
    """``records`` by (name, type); what has none is denied by the one of ``zones`` that it lies in, or by the root.

    ``silent``, ``silent_tcp``: reads and says nothing. ``delay``: seconds before each answer. ``truncate``: nothing
    but TCP has records. ``garbage``: no DNS message at all.
    ``rcode``: of every answer, whatever is asked.
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
    stop: Event = field(default_factory=Event)
    asked: list[tuple[str, str, str]] = field(default_factory=list)

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
        self.asked.append((name, dns.rdatatype.to_text(question.rdtype), transport))
        if self.silent or (self.silent_tcp and transport == "TCP"):
            return None
        self.stop.wait(self.delay)
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
        wanted = dns.rdatatype.to_text(kind)
        seen = set()
        while name not in seen:
            seen.add(name)
            if values := self._lookup(name, wanted):
                response.answer.append(dns.rrset.from_text(f"{name}.", TTL, "IN", wanted, *values))
                return
            alias = self._lookup(name, "CNAME")
            if not alias or wanted == "CNAME":
                break
            response.answer.append(dns.rrset.from_text(f"{name}.", TTL, "IN", "CNAME", *alias))
            name = alias[0].rstrip(".")
        if not self._exists(name):
            response.set_rcode(dns.rcode.NXDOMAIN)
        zone = next((zone for zone in self.zones if name == zone or name.endswith(f".{zone}")), "")
        soa = f"ns.{zone or 'root'}. admin.{zone or 'root'}. 1 2 3 4 {NEGATIVE_TTL}"
        response.authority.append(dns.rrset.from_text(f"{zone}.", TTL, "IN", "SOA", soa))

    def _lookup(self, name: str, kind: str) -> list[str]:
        """A name that has a record of any type is none of its zone's wildcard (RFC 4592)."""
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
        return any(each == name for each, _ in self.records)

    def _exists(self, name: str) -> bool:
        return name in self.zones or any(
            each == name or each.endswith(f".{name}") for each, _ in self.records
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
        for thread in threads:
            thread.join(5)
        udp.close()
        tcp.close()


def _one_port() -> tuple[socket.socket, socket.socket]:
    """A port that is free for both."""
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
        if answer is not None and not server.stop.is_set():
            udp.sendto(answer, client)

    while not server.stop.is_set():
        try:
            wire, client = udp.recvfrom(65535)
        except TimeoutError:
            continue
        if server.delay:
            Thread(target=reply, args=(wire, client), daemon=True).start()
        else:
            reply(wire, client)


def _serve_tcp(server: DnsServer, tcp: socket.socket) -> None:
    tcp.settimeout(0.05)
    while not server.stop.is_set():
        try:
            connection, _ = tcp.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(5)
            size = connection.recv(2, socket.MSG_WAITALL)
            answer = server.answer(connection.recv(*struct.unpack("!H", size), socket.MSG_WAITALL), "TCP")
            if answer is None:
                server.stop.wait(5)
            else:
                connection.sendall(struct.pack("!H", len(answer)) + answer)
