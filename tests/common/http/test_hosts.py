import pytest

from common.http.urls import canonical_host, is_address
from testing.cases import for_each

LONGEST = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])


@for_each(
    ("header", "host"),
    [
        ("sho.rt", "sho.rt"),
        ("SHO.RT", "sho.rt"),
        ("Sho.Rt", "sho.rt"),
        ("sho.rt.", "sho.rt"),
        ("SHO.RT.:8000", "sho.rt"),
        ("sho.rt:80", "sho.rt"),
        ("sho.rt:443", "sho.rt"),
        ("sho.rt:0", "sho.rt"),
        ("sho.rt:65535", "sho.rt"),
        ("sho.rt:", "sho.rt"),
        ("localhost", "localhost"),
        ("localhost:8000", "localhost"),
        ("a", "a"),
        ("a.b", "a.b"),
        ("go.customer.example", "go.customer.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("a-b.example", "a-b.example"),
        ("123.example", "123.example"),
        ("_dmarc.example", "_dmarc.example"),
        ("a_b.example", "a_b.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8000", "127.0.0.1"),
        ("192.0.2.7", "192.0.2.7"),
        ("[::1]", "[::1]"),
        ("[::1]:8000", "[::1]"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
        ("[::ffff:192.0.2.7]:80", "[::ffff:192.0.2.7]"),
        (LONGEST, LONGEST),
        (LONGEST + ".:443", LONGEST),
    ],
)  # fmt: skip
def test_host_has_one_spelling(header: str, host: str) -> None:
    assert canonical_host(header) == host


@for_each(
    "header",
    [
        "",
        " ",
        ".",
        "..",
        ":",
        ":80",
        "-",
        ".sho.rt",
        "sho.rt..",
        "-sho.rt",
        "sho.rt-",
        " sho.rt",
        "sho.rt ",
        "sho.rt\n",
        "sho.rt\r\nX: y",
        "sho\t.rt",
        "sho.rt\0",
        "sho.rt\x00.evil.example",
        "sho.rt,evil.example",
        "sho.rt, sho.rt",
        "sho.rt;evil",
        "sho.rt/path",
        "sho.rt/../evil",
        "sho.rt?query",
        "sho.rt#fragment",
        "user@sho.rt",
        "user:password@sho.rt",
        "sho.rt@evil.example",
        "sho.rt\\evil",
        "http://sho.rt",
        "//sho.rt",
        "sho.rt:http",
        "sho.rt:80:80",
        "sho.rt:-80",
        "sho.rt:+80",
        "sho.rt:8 0",
        "sho.rt:٨٠",
        "sho.rt:123456",
        "sho%2Ert",
        "sho.rt%00",
        "sho*rt",
        "*",
        "<script>",
        '"sho.rt"',
        "{{7*7}}",
        "$(id)",
        "bücher.example",
        "sho.rt\u3002example",
        "\uff53\uff48\uff4f.rt",
        "\u212aelvin.example",  # the Kelvin sign, whose lower case is an ASCII k
        "s\u017fo.rt",
        "\u0130.example",
        "::1",
        "[::1",
        "::1]",
        "[]",
        "[::1]]",
        "[::1].sho.rt",
        "[::1]x",
        "[sho.rt]",
        "[::g]",
        "[fe80::1%eth0]",
        "[v1.x]",
        "a" * 254,
        "a" * 100_000,
        "." * 100_000,
    ],
)
def test_invalid_host_is_refused(header: str) -> None:
    assert canonical_host(header) is None


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.7", "192.0.2.7", "localhost", "[::1]", "[2001:db8::1]"]
)
def test_ip_addresses_and_localhost_are_addresses(host: str) -> None:
    assert is_address(host) is True


@pytest.mark.parametrize(
    "host",
    [
        "sho.rt",
        "localhost.example",
        "127.0.0.1.example",
        "1.2.3.4a",
        "a1.2.3.4",
        "0x7f.1",
        "_",
        "my-localhost",
    ],
)
def test_names_are_not_addresses(host: str) -> None:
    assert is_address(host) is False
