"""Addresses as numbers agree with the standard library's `ipaddress`."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.http.client_address import ip_number, is_global

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
