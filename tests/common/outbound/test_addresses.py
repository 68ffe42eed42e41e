"""Which addresses the service may call, and that it calls no other, whatever DNS says."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from dns.message import Message, make_response
from dns.rrset import from_text
from pytest_django.fixtures import Settings

from common.outbound import OutboundError, send
from common.outbound.addresses import is_allowed
from testing.domains.dns_server import DnsServer
from testing.outbound.servers import answering, raw_server

PUBLIC = [
    "8.8.8.8",
    "172.15.255.255",
    "100.63.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]
FORBIDDEN = [
    *("0.0.0.1", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254"),
    *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
    *("192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *(
        "::",
        "::1",
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:8.8.8.8",
    ),
    *(
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "100::1",
        "2001::1",
        "2001:0:4136:e378::1",
    ),
    *("2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1"),
    *("fec0::1", "ff02::1", "4000::1", "5f00::1"),
]


def refusal(url: str, **options: object) -> str:
    with pytest.raises(OutboundError) as caught:
        send("GET", url, **options)  # type: ignore[arg-type]
    return caught.value.reason


def test_only_public_addresses_and_allowed_networks_are_called(settings: Settings) -> None:
    assert [text for text in PUBLIC if not is_allowed(ip_address(text))] == []
    assert [text for text in FORBIDDEN if is_allowed(ip_address(text))] == []

    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("10.1.0.0/16"), ip_network("fd12::/16")]
    asked = ["10.1.0.1", "::ffff:10.1.0.1", "64:ff9b::a01:1", "fd12::1", "10.2.0.1", "fd13::1"]
    assert [is_allowed(ip_address(text)) for text in asked] == [True, True, True, True, False, False]


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:7f00:1]"),
        "127.0.0.1.",
        *("[::]", "0", "169.254.169.254", "[64:ff9b::a9fe:a9fe]", "\uff11\uff12\uff17.0.0.1"),
    ],
)
def test_no_spelling_of_an_address_leads_inside(host: str) -> None:
    with raw_server(answering()) as server:
        assert refusal(f"http://{host}:{server.port}/", allow_http=True) == "forbidden_address"
        assert server.connections == 0


def test_one_forbidden_address_refuses_the_whole_name(dns: DnsServer) -> None:
    cases = [
        ({"A": ["8.8.8.8", "127.0.0.1"]}, "forbidden_address"),
        ({"A": ["8.8.8.8"], "AAAA": ["::1"]}, "forbidden_address"),
        ({"A": ["8.8.8.8"], "AAAA": ["fd00::1"]}, "forbidden_address"),
        ({"AAAA": ["::ffff:10.0.0.1"]}, "forbidden_address"),
        ({"AAAA": ["2002:7f00:1::1"]}, "forbidden_address"),
        ({"CNAME": ["inside.brand.example."]}, "forbidden_address"),
        ({"TXT": ["nothing"]}, "nxdomain"),
    ]
    dns.set("inside.brand.example", "A", "10.0.0.1")
    for records, reason in cases:
        for kind in ("A", "AAAA", "CNAME", "TXT"):
            dns.remove("api.brand.example", kind)
        for kind, values in records.items():
            dns.set("api.brand.example", kind, *values)
        assert refusal("https://api.brand.example/") == reason, records
    assert refusal("https://missing.brand.example/") == "nxdomain"
    assert refusal(f"https://{'a' * 64}.example/") == "nxdomain"
    dns.garbage = True
    assert refusal("https://api.brand.example/", seconds=0.5) == "dns"


@pytest.mark.usefixtures("loopback")
def test_the_connection_goes_to_the_address_that_was_checked(dns: DnsServer, settings: Settings) -> None:
    """The name resolves to an allowed address once, and to a forbidden one ever after."""
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.2/32")]
    asked: list[str] = []

    def rebind(query: Message, transport: str) -> bytes:
        response = make_response(query)
        if query.question[0].rdtype.name == "A":
            address = "127.0.0.1" if asked else "127.0.0.2"
            asked.append(address)
            response.answer.append(from_text(query.question[0].name, 0, "IN", "A", address))
        return response.to_wire()

    dns.hostile = rebind
    with raw_server(answering(body=b"allowed"), host="127.0.0.2") as server:
        url = f"http://rebound.example:{server.port}/"
        assert send("GET", url).body == b"allowed"
        assert server.requests[0].split(b"\r\n")[:2] == [
            b"GET / HTTP/1.1",
            f"Host: rebound.example:{server.port}".encode(),
        ]
        assert asked == ["127.0.0.2"]
        assert refusal(url) == "forbidden_address"
        assert server.connections == 1


def test_an_installation_may_call_nobody(settings: Settings, dns: DnsServer) -> None:
    settings.OUTBOUND = False
    assert refusal("https://api.brand.example/") == "off"
    assert dns.queries == []
