"""X"""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.http.client_address import client_address, client_network, ip_number, is_global
from testing.cases import for_each

PROXIES = [ip_network("10.0.0.0/8"), ip_network("127.0.0.0/8"), ip_network("fd00::/8"), ip_network("::1/128")]

FORGERIES = [
    "8.8.8.8",
    "127.0.0.1",
    "10.0.0.1",
    "::1",
    "8.8.8.8, 10.0.0.1",
    "10.0.0.1, 8.8.8.8",
    "10.0.0.1,10.0.0.2,10.0.0.3",
    "8.8.8.8:443",
    "[2001:4860:4860::8888]:443",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
    "::ffff:10.0.0.1",
    " 8.8.8.8 ",
    ",",
    ", 8.8.8.8",
    "8.8.8.8,",
    "unknown",
    'for="8.8.8.8"',
    "8.8.8.8\t10.0.0.1",
    "0x8.8.8.8",
    "134744072",
    "٨.٨.٨.٨",
    "8.8.8.8," * 900,
]


@for_each("forwarded_for", FORGERIES)
@for_each("trusted", [[], PROXIES])
def test_forwarded_addresses_of_an_untrusted_peer_are_ignored(forwarded_for: str, trusted: list) -> None:
    assert client_address("198.51.100.7", forwarded_for, trusted) == "198.51.100.7"


@for_each(
    ("forwarded_for", "client"),
    [
        ("", "10.0.0.1"),
        ("203.0.113.9", "203.0.113.9"),
        ("8.8.8.8, 203.0.113.9", "203.0.113.9"),
        ("8.8.8.8, 203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("8.8.8.8,203.0.113.9,10.9.9.9,127.0.0.1,fd00::5", "203.0.113.9"),
        ("10.3.3.3, 10.2.2.2", "10.3.3.3"),
        ("203.0.113.9:5678", "203.0.113.9"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("[::ffff:cb00:7109]:80", "203.0.113.9"),
        ("203.0.113.9, ::ffff:10.2.2.2", "203.0.113.9"),
        ("fe80::1%eth0", "fe80::1"),
        ("fe80::1%<script>", "fe80::1"),
    ],
)
def test_client_is_the_rightmost_untrusted_hop(forwarded_for: str, client: str) -> None:
    assert client_address("10.0.0.1", forwarded_for, PROXIES) == client


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "unknown",
        "_hidden",
        "203.0.113",
        "203.0.113.256",
        "203.0.113.09",
        "203.0.113.9:http",
        "[203.0.113.9",
        "203.0.113.9:123456",
        '"203.0.113.9"',
        "203.0.113.9/32",
        "٨.٨.٨.٨",
        "2001:db8::1]:80",
        "\x00",
    ],
)
def test_an_invalid_hop_ends_the_search(garbage: str) -> None:
    assert client_address("10.0.0.1", f"8.8.8.8, {garbage}, 10.2.2.2", PROXIES) == "10.2.2.2"
    assert client_address("10.0.0.1", garbage, PROXIES) == "10.0.0.1"


def test_ipv4_mapped_peer_is_recognized_as_trusted_proxy() -> None:
    assert client_address("::ffff:10.0.0.1", "203.0.113.9", PROXIES) == "203.0.113.9"


@pytest.mark.parametrize(
    ("remote_addr", "client"),
    [("::ffff:203.0.113.9", "203.0.113.9"), ("2001:DB8::0:1", "2001:db8::1"), ("fe80::1%eth0", "fe80::1")],
)
def test_peer_address_has_one_spelling(remote_addr: str, client: str) -> None:
    assert client_address(remote_addr, "", []) == client
    assert client_address(remote_addr, "8.8.8.8", PROXIES) == client


def test_unix_socket_is_a_trusted_proxy_once_any_network_is_trusted() -> None:
    assert client_address("", "203.0.113.9", PROXIES) == "203.0.113.9"
    assert client_address("", "unknown", PROXIES) == ""
    assert client_address("", "203.0.113.9", []) == ""
    assert client_address("", "", PROXIES) == ""


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.0/24"),
        ("::ffff:203.0.113.9", "203.0.113.0/24"),
        ("2001:db8:1:2ff:3::4", "2001:db8:1:200::/56"),
        ("::1", "::/56"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_limits_count_by_network(address: str, network: str) -> None:
    assert client_network(address) == network


# Some versions of the standard library call single addresses of 192.0.0.0/24 global.
_SPECIAL = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"),
]


@given(st.ip_addresses())
def test_an_address_has_its_number(address: object) -> None:
    parsed = ip_address(str(address))
    assert ip_number(str(address)) == (parsed.max_prefixlen, int(parsed))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.2.3",
        "1.2.3.256",
        "01.2.3.4",
        " 1.2.3.4",
        "1.2.3.4\0",
        "::1%eth0",
        "g::",
        "ü.2.3.4",
        "1.2.3.4:80",
    ],
)
def test_other_text_has_no_number(text: str) -> None:
    assert ip_number(text) is None


@pytest.mark.parametrize("network", _SPECIAL)
def test_special_networks_are_not_global_from_their_first_to_their_last_address(network: str) -> None:
    first, last = int(ip_network(network)[0]), int(ip_network(network)[-1])
    near = [number for number in (first - 1, first, last, last + 1) if 0 <= number < 2**32]
    assert [is_global(32, number) for number in near] == [IPv4Address(number).is_global for number in near]
    assert [is_global(32, number) for number in (first, last)] == [False, False]


@given(st.ip_addresses().filter(lambda address: address not in ip_network("192.0.0.0/24")))
def test_an_address_is_global_if_the_standard_library_says_so(address: object) -> None:
    parsed = ip_address(str(address))
    assert is_global(parsed.max_prefixlen, int(parsed)) == parsed.is_global
