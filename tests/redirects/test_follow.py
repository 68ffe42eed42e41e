from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import setup_testing_defaults

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from redirects import refusals
from redirects.refusals import Refusal
from shortener_project.wsgi import application
from testing.clicks import drain
from testing.html import check_json, check_page

MakeLink = Callable[..., dict[str, Any]]

DESTINATION = "https://example.com/page"
PAST, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
AMERICAN = "8.8.8.8"
CUSTOM_HOST = "go.example.net"


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return custom_domain(alice)


def custom_domain(
    owner: NewAccount, host: str = CUSTOM_HOST, status: DomainStatus = DomainStatus.ACTIVE
) -> Domain:
    subdomain, _, name = host.partition(".")
    return Domain.objects.create(
        owner=owner.workspace, domain=name, subdomain=subdomain, host=host, status=status
    )


def redirect_headers(location: str, cache_control: str = "private, no-store") -> dict[str, str]:
    return {
        "Location": location,
        "Cache-Control": cache_control,
        "X-Robots-Tag": "noindex",
        "Content-Length": "0",
    }


# The response


@pytest.mark.parametrize(
    ("fields", "status", "cache_control"),
    [
        ({}, 302, "private, no-store"),
        ({"redirectType": 302}, 302, "private, no-store"),
        ({"redirectType": 301}, 301, "private, max-age=90"),
        ({"redirectType": None}, 302, "private, no-store"),
        ({"expiresAt": FUTURE}, 302, "no-store"),
        ({"expiresAt": FUTURE, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"maxClicks": 9}}, 302, "no-store"),
        ({"restrictions": {"maxClicks": 9}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"allowedCountries": ["US"]}}, 302, "no-store"),
        ({"restrictions": {"allowedCountries": ["US"]}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"blockedCountries": ["GB"]}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {"allowedDevices": ["desktop"]}, "redirectType": 301}, 301, "no-store"),
        ({"restrictions": {}, "redirectType": 301}, 301, "private, max-age=90"),
    ],
)
def test_a_redirect_has_exactly_these_headers(
    visitor: Client, make_link: MakeLink, fields: dict[str, Any], status: int, cache_control: str
) -> None:
    code = make_link(**fields)["shortCode"]

    response = visitor.get(f"/{code}", REMOTE_ADDR=AMERICAN)

    assert response.status_code == status
    assert dict(response.headers) == redirect_headers(DESTINATION, cache_control)
    assert response.cookies == {}
    assert response.content == b""


@pytest.mark.parametrize(
    ("original_url", "utm", "location"),
    [
        ("https://example.com", {}, "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A?b=C#D", {}, "https://example.com/A?b=C#D"),
        ("https://example.com/a/../b/./c", {}, "https://example.com/b/c"),
        ("https://example.com/?q=a+b%20c&&x=", {}, "https://example.com/?q=a+b%20c&&x="),
        ("https://example.com/#/route?x=1", {}, "https://example.com/#/route?x=1"),
        ("http://example.com:8080/", {}, "http://example.com:8080/"),
        ("http://[2001:DB8::1]/", {}, "http://[2001:db8::1]/"),
        (
            "https://bücher.example/straße?ä=ö#ü",
            {},
            "https://xn--bcher-kva.example/stra%C3%9Fe?%C3%A4=%C3%B6#%C3%BC",
        ),
        ("https://日本語.jp/日本", {}, "https://xn--wgv71a119e.jp/%E6%97%A5%E6%9C%AC"),
        ("https://\uff27\uff4f.com/", {}, "https://go.com/"),
        ("https://example.com/a b", {}, "https://example.com/a%20b"),
        ("https://example.com/page", {"source": "mail"}, "https://example.com/page?utm_source=mail"),
        (
            "https://example.com/page?a=1#top",
            {"content": "e", "term": "d", "campaign": "c", "medium": "b", "source": "a"},
            "https://example.com/page?a=1&utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e#top",
        ),
        (
            "https://example.com/?utm_source=old&x=1&utm%5Fsource=older&utm_medium=kept",
            {"source": "new"},
            "https://example.com/?x=1&utm_medium=kept&utm_source=new",
        ),
        (
            "https://example.com/",
            {"source": "a&b=c#d\r\nX: y", "medium": "ß ✓"},
            "https://example.com/?utm_source=a%26b%3Dc%23d%0D%0AX%3A%20y&utm_medium=%C3%9F%20%E2%9C%93",
        ),
        ("https://example.com/?utm_source=mine", {"source": ""}, "https://example.com/?utm_source=mine"),
        ("https://example.com/?utm_source=mine", {"source": None}, "https://example.com/?utm_source=mine"),
    ],
)
def test_location_is_the_canonical_destination_with_utm_parameters(
    visitor: Client, make_link: MakeLink, original_url: str, utm: dict[str, Any], location: str
) -> None:
    code = make_link(original_url, utm=utm)["shortCode"]

    assert dict(visitor.get(f"/{code}").headers) == redirect_headers(location)
    assert location.isascii()


def test_the_longest_destination_with_the_longest_utm_is_not_truncated(
    visitor: Client, make_link: MakeLink
) -> None:
    url = "https://example.com/".ljust(2048, "x")
    names = ("source", "medium", "campaign", "term", "content")
    code = make_link(url, utm=dict.fromkeys(names, "\U0001d4b3" * 200))["shortCode"]

    utm = "&".join(f"utm_{name}={'%F0%9D%92%B3' * 200}" for name in names)
    assert visitor.get(f"/{code}")["Location"] == f"{url}?{utm}"


@pytest.mark.parametrize(
    "fields", [{}, {"redirectType": 301}, {"isActive": False}, {"password": "secret"}, {"expiresAt": PAST}]
)
def test_head_returns_the_headers_of_get_without_a_body(
    visitor: Client, api: APIClient, make_link: MakeLink, fields: dict[str, Any]
) -> None:
    link = make_link(**{name: value for name, value in fields.items() if name != "isActive"})
    api.put(f"/api/urls/{link['_id']}", fields)

    get, head = visitor.get(f"/{link['shortCode']}"), visitor.head(f"/{link['shortCode']}")

    assert head.status_code == get.status_code
    assert dict(head.headers) == dict(get.headers)
    assert head.content == b""


def test_a_redirect_takes_one_read_and_with_a_click_limit_one_write(
    visitor: Client, make_link: MakeLink, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    link, capped = make_link(), make_link(restrictions={"maxClicks": 9})

    for tested_link, first, later, head, status in ((link, 1, 0, 0, 302), (capped, 2, 2, 1, 200)):
        for queries in (first, later):
            with django_assert_num_queries(queries):
                assert visitor.get(f"/{tested_link['shortCode']}").status_code == 302
        with django_assert_num_queries(head):
            assert visitor.head(f"/{tested_link['shortCode']}").status_code == status


# Codes


def test_short_custom_and_former_custom_codes_redirect(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    for code in ("Summer", "autumn2"):
        assert api.put(f"/api/urls/{link['_id']}", {"customCode": code}).status_code == 200

    codes = (link["shortCode"], "spring", "Summer", "autumn2")
    assert [visitor.get(f"/{code}").get("Location") for code in codes] == [DESTINATION] * 4


def test_codes_are_case_sensitive(visitor: Client, make_link: MakeLink) -> None:
    make_link("https://example.com/lower", customCode="promo")
    make_link("https://example.com/upper", customCode="PROMO")

    assert visitor.get("/promo")["Location"] == "https://example.com/lower"
    assert visitor.get("/PROMO")["Location"] == "https://example.com/upper"
    assert visitor.get("/Promo").status_code == 404


@pytest.mark.parametrize("code", ["abc", "0" * 50, "007", "Z9z"])
def test_the_shortest_and_the_longest_codes_work(visitor: Client, make_link: MakeLink, code: str) -> None:
    make_link(customCode=code)

    assert visitor.get(f"/{code}")["Location"] == DESTINATION


@pytest.mark.parametrize(
    "code", ["apiary", "apidocs", "adminton", "administer", "statics", "robotsx", "healthzz"]
)
@pytest.mark.parametrize("host", ["sho.rt", CUSTOM_HOST])
def test_a_code_may_share_a_prefix_with_a_reserved_path(
    visitor: Client, make_link: MakeLink, domain: Domain, code: str, host: str
) -> None:
    make_link(customCode=code, domainId="base" if host == "sho.rt" else str(domain.public_id))

    response = visitor.get(f"/{code}", headers={"host": host})

    assert response.status_code == 302
    assert dict(response.headers) == redirect_headers(DESTINATION)


@pytest.mark.parametrize(
    "path",
    [
        "/" + "a" * 256, "/a-b,c", "/abc\n", "/abc\x00", "/\x00abc", "/é€ß", "/abc//", "/abc/x",
        "/a b", "/abc%00", "/..", "/../../etc/passwd", "/.well-known/security.txt",
        "/\uff41\uff42\uff43", "/\uff11\uff12\uff13", "/\u0661\u0662\u0663", "//abc", "/;abc", "/abc;x",
    ],
)  # fmt: skip
def test_invalid_codes_return_404_without_a_database_query(
    visitor: Client, db: None, django_assert_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    with django_assert_num_queries(0):
        response = visitor.get("/", PATH_INFO=path.encode().decode("latin-1"))

    assert response.status_code == 404
    check_page(response, title=refusals.NOT_FOUND.title, message=refusals.NOT_FOUND.message)


def test_all_codes_of_a_deleted_link_return_404(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})
    api.delete(f"/api/urls/{link['_id']}")

    codes = (link["shortCode"], "spring", "summer")
    assert [visitor.get(f"/{code}").status_code for code in codes] == [404, 404, 404]


def test_an_edit_takes_effect_at_the_next_visit(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()

    def visit_after(**changes: Any) -> tuple[int, str]:
        assert api.put(f"/api/urls/{link['_id']}", changes).status_code == 200
        response = visitor.get(f"/{link['shortCode']}")
        return response.status_code, response.get("Location", "")

    assert visit_after(isActive=False) == (410, "")
    assert visit_after(isActive=True) == (302, DESTINATION)
    assert visit_after(expiresAt=PAST) == (410, "")
    assert visit_after(expiresAt=None) == (302, DESTINATION)
    assert visit_after(redirectType=301, utm={"source": "a"}) == (301, f"{DESTINATION}?utm_source=a")
    assert visit_after(utm=None, redirectType=None) == (302, DESTINATION)
    assert visit_after(restrictions={"allowedDevices": ["mobile"]}) == (403, "")
    assert visit_after(restrictions=None) == (302, DESTINATION)
    assert visit_after(password="secret") == (401, "")
    assert visit_after(password=None) == (302, DESTINATION)


# Hosts


@pytest.mark.parametrize(
    "host",
    [
        "sho.rt",
        "SHO.RT",
        "Sho.Rt",
        "sho.rt:80",
        "sho.rt:443",
        "sho.rt:8000",
        "sho.rt:",
        "sho.rt.",
        "SHO.rt.:8000",
    ],
)
def test_every_spelling_of_the_default_host_is_accepted(
    visitor: Client, make_link: MakeLink, host: str
) -> None:
    code = make_link()["shortCode"]

    assert visitor.get(f"/{code}", headers={"host": host})["Location"] == DESTINATION


@pytest.mark.parametrize(
    "host", [CUSTOM_HOST, "GO.Example.NET", "go.example.net:443", "go.example.net.", "go.example.net.:80"]
)
def test_a_link_on_a_custom_domain_redirects_there(
    visitor: Client, make_link: MakeLink, domain: Domain, host: str
) -> None:
    link = make_link(domainId=str(domain.public_id), customCode="spring")

    for code in (link["shortCode"], "spring"):
        response = visitor.get(f"/{code}", headers={"host": host})
        assert response.status_code == 302
        assert dict(response.headers) == redirect_headers(DESTINATION)


def test_no_host_falls_back_to_another(visitor: Client, make_link: MakeLink, alice: NewAccount) -> None:
    hosts = {
        "sho.rt": "base",
        "a.example.net": str(custom_domain(alice, "a.example.net").public_id),
        "b.example.net": str(custom_domain(alice, "b.example.net").public_id),
    }
    codes = {}
    for host, identifier in hosts.items():
        link = make_link(f"https://example.com/{host}", domainId=identifier, customCode=f"only{host[0]}")
        codes[host] = (link["shortCode"], f"only{host[0]}")

    for own_host, (short_code, custom_code) in codes.items():
        for host in [*hosts, "c.example.net", "example.net"]:
            expected = f"https://example.com/{own_host}" if host == own_host else None
            for code in (short_code, custom_code):
                assert visitor.get(f"/{code}", headers={"host": host}).get("Location") == expected


def test_the_same_code_is_a_different_link_on_every_host(
    visitor: Client, make_link: MakeLink, domain: Domain
) -> None:
    make_link("https://example.com/home", customCode="spring")
    make_link("https://example.com/custom", customCode="spring", domainId=str(domain.public_id))

    assert visitor.get("/spring")["Location"] == "https://example.com/home"
    assert visitor.get("/spring", headers={"host": CUSTOM_HOST})["Location"] == "https://example.com/custom"


@pytest.mark.parametrize(
    ("status", "status_code", "reason"),
    [
        (DomainStatus.ACTIVE, 302, None),
        (DomainStatus.INACTIVE, 410, "disabled"),
        (DomainStatus.PENDING, 404, "not_found"),
    ],
)
def test_links_work_only_while_their_domain_is_active(
    visitor: Client,
    make_link: MakeLink,
    domain: Domain,
    *,
    status: DomainStatus,
    status_code: int,
    reason: str | None,
) -> None:
    code = make_link(domainId=str(domain.public_id))["shortCode"]
    Domain.objects.update(status=status)

    response = visitor.get(f"/{code}", headers={"host": CUSTOM_HOST, "accept": "application/json"})

    assert response.status_code == status_code
    assert (response.json()["reason"] if reason else None) == reason


def test_other_accounts_claims_to_a_host_do_not_affect_its_links(
    visitor: Client, make_link: MakeLink, domain: Domain, stranger: NewAccount
) -> None:
    code = make_link(domainId=str(domain.public_id))["shortCode"]
    custom_domain(stranger, status=DomainStatus.PENDING)

    assert visitor.get(f"/{code}", headers={"host": CUSTOM_HOST})["Location"] == DESTINATION


FOREIGN_HOSTS = [
    "", " ", ".", "..", "-", "_", "*", ":", ":80", "@", "/", "\\", "?", "#", "'", "%s", "{}", "null", "0",
    "evil.example", "sho.rt.evil.example", "evilsho.rt", "www.sho.rt", "sho", "rt", "sho.rt.rt", "evil.example:80",
    "sho.rt@evil.example", "evil.example@sho.rt", "user:pw@sho.rt", "sho.rt, evil.example", "evil.example,sho.rt",
    "sho.rt evil.example", "sho.rt;evil.example", "evil.example#sho.rt", "evil.example?sho.rt", "evil.example/sho.rt",
    "sho.rt/evil.example", "http://sho.rt", "//sho.rt", "sho.rt:80:80", "sho.rt:evil", "sho.rt:-1", "sho.rt:+80",
    "sho.rt:80@evil.example", "sho.rt:999999", "sho.rt: 80", "sho.rt :80", " sho.rt", "sho.rt ", "\tsho.rt",
    "sho.rt..", ".sho.rt",
    "sho..rt", "sho.rt%00", "sho.rt%0d%0a", "sho%2ert", "sho.rt\x00", "sho.rt\r\nX-Evil: evil", "sho.rt\n",
    "[sho.rt]", "[::1", "::1", "[::1]", "[::1]:80", "[::ffff:127.0.0.1]", "127.0.0.1", "localhost", "0x7f.1",
    "sh\u00f8.rt", "\u0455ho.rt", "sho\u3002rt", "\uff53ho.rt", "xn--", "a" * 254, "a." * 2000,
    "'; DROP TABLE links_link--",
]  # fmt: skip


def test_every_code_on_an_unknown_host_returns_404(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    responses = {}
    for host in FOREIGN_HOSTS:
        response = visitor.get(f"/{code}", HTTP_HOST=host.encode().decode("latin-1"))
        responses[host] = (response.status_code, "Location" in response, b"evil" in response.content)

    assert responses == dict.fromkeys(FOREIGN_HOSTS, (404, False, False))


def test_a_request_without_a_host_returns_404(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    assert Client(SERVER_NAME="sho.rt").get(f"/{code}").status_code == 404


# Requests cannot change the destination

EVIL = [
    "evil.example", "//evil.example", "///evil.example", "////evil.example", "/\\evil.example", "\\/evil.example",
    "\\\\evil.example", "/\\/evil.example", "/\t/evil.example", "/\n/evil.example", "\t//evil.example",
    " //evil.example", "//evil.example/..", "//evil.example/%2e%2e", "/%2f/evil.example", "/%2f%2fevil.example",
    "/%5cevil.example", "/%5c%5cevil.example", "%2f%2fevil.example", "%252f%252fevil.example", "/%09/evil.example",
    "/%0a/evil.example", "/%00/evil.example", "//%00evil.example", "/.evil.example", "/..//evil.example",
    "/../evil.example", "/./evil.example", "/;//evil.example", ";@evil.example", "@evil.example", ":@evil.example",
    ":80@evil.example", "?@evil.example", "#@evil.example", ".evil.example", "-evil.example", "%2eevil.example",
    "http://evil.example", "https://evil.example", "https:evil.example", "https:/evil.example",
    "https:///evil.example", "https:\\\\evil.example", "http:evil.example", "hTTps://evil.example",
    "https://example.com@evil.example", "https://example.com:80@evil.example", "https://example.com%40evil.example",
    "https://example.com.evil.example", "https://evil.example#example.com", "https://evil.example?example.com",
    "https://evil.example\\@example.com", "https://evil.example%5c@example.com", "https://evil%E3%80%82example",
    "//evil\u3002example", "//\uff45vil.example", "https://[::ffff:203.0.113.9]/evil", "//203.0.113.9/evil",
    "//3405803785/evil", "//0xcb.0.0x71.9/evil", "javascript:alert('evil')", "java%0d%0ascript:alert('evil')",
    "data:text/html,evil", "vbscript:evil", "ftp://evil.example", "file:///evil", "blob:evil", "//evil.example/%2f..",
    "redir_url=https://evil.example", "url=https://evil.example", "next=//evil.example", "?url=https://evil.example",
    "?redir_url=//evil.example", "&url=//evil.example", "<>//evil.example", "\u2028//evil.example",
    "%u002f/evil.example",
]  # fmt: skip
PARAMETERS = [
    "redir_url", "redirect", "redirect_url", "redirect_uri", "url", "uri", "u", "next", "to", "target", "dest",
    "destination", "goto", "link", "return", "returnTo", "return_url", "continue", "callback", "location", "Location",
    "utm_source", "originalUrl", "host", "domain", "code", "",
]  # fmt: skip
HEADERS = [
    "X-Forwarded-Host", "X-Forwarded-Server", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Prefix",
    "X-Forwarded-Port", "X-Forwarded-For", "X-Forwarded-Uri", "Forwarded", "X-Host", "X-Real-Ip", "X-Original-Host",
    "X-Original-Url", "X-Rewrite-Url", "X-Http-Host-Override", "X-Http-Method-Override", "X-Proxy-Url",
    "X-Script-Name",
    "Proxy", "Referer", "Origin", "From", "Via", "Destination", "Location", "Refresh", "Base-Url", "Cf-Connecting-Ip",
    "Cf-Ipcountry", "True-Client-Ip", "Request-Uri", "Range", "If-None-Match", "If-Modified-Since",
    "Accept-Language", "Accept-Encoding", "Authorization", "X-Api-Key", "Cookie", "Upgrade",
]  # fmt: skip


def as_wsgi(text: str) -> str:
    return text.encode().decode("latin-1")


def test_the_query_does_not_change_the_destination(visitor: Client, make_link: MakeLink) -> None:
    code = make_link("https://example.com/page?a=1#end")["shortCode"]

    locations = {}
    for payload in EVIL:
        everywhere = "&".join(f"{name}={payload}" for name in PARAMETERS)
        for query in (payload, everywhere):
            response = visitor.get(f"/{code}", QUERY_STRING=as_wsgi(query))
            locations[payload] = dict(response.headers)

    assert locations == dict.fromkeys(EVIL, redirect_headers("https://example.com/page?a=1#end"))


def test_extra_path_segments_return_404(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    responses = {}
    for payload in EVIL:
        for path in (
            f"/{code}/{payload}",
            f"/{code}{payload}",
            f"/{payload}/{code}",
            f"{payload}/{code}",
            payload,
        ):
            for decoded in (as_wsgi(path), unquote_to_bytes(path).decode("latin-1")):
                response = visitor.get("/", PATH_INFO=decoded)
                responses[payload] = (
                    response.status_code,
                    "Location" in response,
                    b"evil" in response.content,
                )

    assert responses == dict.fromkeys(EVIL, (404, False, False))


def test_headers_do_not_change_the_destination(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    payloads = [*EVIL, "sho.rt", CUSTOM_HOST, "POST", "https"]

    responses = {}
    for payload in payloads:
        headers = {f"HTTP_{name.upper().replace('-', '_')}": as_wsgi(payload) for name in HEADERS}
        response = visitor.get(f"/{code}", **headers)
        responses[payload] = (response.status_code, dict(response.headers))

    assert responses == dict.fromkeys(payloads, (302, redirect_headers(DESTINATION)))


CRLF = [
    "%0d%0aSet-Cookie:%20evil=1", "%0aSet-Cookie:%20evil=1", "%0dSet-Cookie:%20evil=1", "\r\nSet-Cookie: evil=1",
    "\nSet-Cookie: evil=1", "\rSet-Cookie: evil=1", "%0d%0a%0d%0a<script>evil</script>",
    "%23%0d%0aLocation:%20//evil.example",
    "%3f%0d%0aLocation:%20//evil.example", "/%0d%0aLocation:%20//evil.example", "%E5%98%8A%E5%98%8DSet-Cookie:evil=1",
    "%e5%98%8a%e5%98%8dLocation:evil", "\u560a\u560dSet-Cookie:evil=1", "%250d%250aSet-Cookie:%20evil=1",
    "%%0a0aSet-Cookie:evil=1", "%u000aSet-Cookie:evil=1", "%c4%8d%c4%8aSet-Cookie:evil=1",
    *(chr(control) + "evil" for control in [*range(32), 127]),
]  # fmt: skip


def test_response_headers_contain_no_injected_line_break(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    not_found = dict(visitor.get("/unknown").headers)

    responses = {}
    for payload in CRLF:
        in_query = visitor.get(f"/{code}", QUERY_STRING=as_wsgi(payload), HTTP_REFERER=as_wsgi(payload))
        raw = visitor.get("/", PATH_INFO=as_wsgi(f"/{code}{payload}"))
        decoded = visitor.get("/", PATH_INFO=unquote_to_bytes(f"/{code}{payload}").decode("latin-1"))
        responses[payload] = (dict(in_query.headers), dict(raw.headers), dict(decoded.headers))

    assert responses == dict.fromkeys(CRLF, (redirect_headers(DESTINATION), not_found, not_found))


# Methods


@pytest.mark.parametrize(
    "method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "EVIL"]
)
@pytest.mark.parametrize("known", [True, False])
def test_other_methods_are_not_allowed(
    visitor: Client, make_link: MakeLink, method: str, known: bool
) -> None:
    code = make_link()["shortCode"] if known else "unknown"

    page = visitor.generic(method, f"/{code}")
    json = visitor.generic(method, f"/{code}", headers={"accept": "application/json"})

    for response in (page, json):
        assert response.status_code == 405
        assert response["Allow"] == "GET, HEAD, POST"
    refusal = refusals.METHOD_NOT_ALLOWED
    check_page(page, title=refusal.title, message=refusal.message)
    check_json(json, reason="method_not_allowed", message=refusal.message)


def test_post_to_a_link_without_password_redirects_to_get(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    response = visitor.post(f"/{code}?next=//evil.example", {"password": "x", "url": "//evil.example"})

    assert response.status_code == 303
    assert response["Location"] == f"/{code}"
    assert response["Cache-Control"] == "no-store"
    assert response.cookies == {}


# Refusals

SITUATIONS: dict[str, tuple[dict[str, Any], Refusal, int]] = {
    "disabled": ({"isActive": False}, refusals.DISABLED, 410),
    "expired": ({"expiresAt": PAST}, refusals.EXPIRED, 410),
    "limit_reached": ({"restrictions": {"maxClicks": 1}}, refusals.LIMIT_REACHED, 410),
    "country": ({"restrictions": {"blockedCountries": ["US"]}}, refusals.COUNTRY, 403),
    "device": ({"restrictions": {"allowedDevices": ["mobile", "tablet"]}}, refusals.DEVICE, 403),
    "password": ({"password": "secret"}, refusals.PASSWORD, 401),
}


@pytest.mark.parametrize("reason", SITUATIONS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refusal_is_html_or_json_according_to_accept(
    visitor: Client, api: APIClient, make_link: MakeLink, reason: str, method: str
) -> None:
    changes, refusal, status = SITUATIONS[reason]
    link = make_link(title="<b>evil</b>", description="evil")
    if reason == "limit_reached":
        visitor.get(f"/{link['shortCode']}")
        drain()
    assert api.put(f"/api/urls/{link['_id']}", changes).status_code == 200
    if (reason, method) == ("password", "POST"):
        refusal, reason, status = refusals.FORM_EXPIRED, "csrf", 403

    page = visitor.generic(method, f"/{link['shortCode']}?<b>evil", REMOTE_ADDR=AMERICAN)
    json = visitor.generic(
        method, f"/{link['shortCode']}?<b>evil", headers={"accept": "application/json"}, REMOTE_ADDR=AMERICAN
    )

    assert (page.status_code, json.status_code) == (status, status)
    check_page(page, title=refusal.title, message=refusal.message)
    check_json(json, reason=reason, message=refusal.message)
    assert b"evil" not in page.content
    assert b"example.com" not in page.content
    assert "Location" not in page
    assert "Location" not in json


def test_an_unknown_code_returns_404(visitor: Client, db: None) -> None:
    for path in ("/unknown", "/not/a/code"):
        page = visitor.get(path)
        json = visitor.get(path, headers={"accept": "application/json"})

        assert (page.status_code, json.status_code) == (404, 404)
        check_page(page, title="Link not found", message=refusals.NOT_FOUND.message)
        check_json(json, reason="not_found", message=refusals.NOT_FOUND.message)
        assert page.cookies == {}


def test_json_refusals_disable_content_sniffing(visitor: Client, db: None) -> None:
    response = visitor.get("/unknown", headers={"accept": "application/json"})

    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_first_refusing_rule_decides_the_response(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    visitor.get(f"/{link['shortCode']}")
    drain()
    restrictions = {"maxClicks": 1, "blockedCountries": ["US"], "allowedDevices": ["mobile"]}
    api.put(
        f"/api/urls/{link['_id']}",
        {"isActive": False, "expiresAt": PAST, "password": "secret", "restrictions": restrictions},
    )

    reasons = []
    for change in (
        {},
        {"isActive": True},
        {"expiresAt": None},
        {"restrictions": {**restrictions, "maxClicks": 2}},
        {"restrictions": {"maxClicks": 2, "allowedDevices": ["mobile"]}},
        {"restrictions": {"maxClicks": 2}},
    ):
        assert api.put(f"/api/urls/{link['_id']}", change).status_code == 200
        response = visitor.get(
            f"/{link['shortCode']}", headers={"accept": "application/json"}, REMOTE_ADDR=AMERICAN
        )
        reasons.append(response.json()["reason"])

    assert reasons == ["disabled", "expired", "limit_reached", "country", "device", "password"]


# Arbitrary headers


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/json", "application/json"),
        ("APPLICATION/JSON", "application/json"),
        ("application/json;q=0.1", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        ("application/json, text/plain, */*", "application/json"),
        ("application/*", "application/json"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("text/html;q=0, application/json", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "text/html"),
        ("text/html, application/json;q=0.9", "text/html"),
        ("*/*", "text/html"),
        ("text/*", "text/html"),
        ("text/plain", "text/html"),
        ("image/png", "text/html"),
        ("application/json;q=0", "text/html"),
        ("application/problem+json", "text/html"),
        ("", "text/html"),
        (",,,", "text/html"),
        (";;;", "text/html"),
        ("=", "text/html"),
        ("text", "text/html"),
        ("/", "text/html"),
        ("*", "text/html"),
        ("\xff\xfe\x00", "text/html"),
        ("text/html;q=nan", "text/html"),
        ("text/html;q=", "text/html"),
        ("text/html;q=" + "9" * 5000, "text/html"),
        ("text/html;" * 3000, "text/html"),
        ("text/html," * 3000, "text/html"),
        ('text/html;a="', "text/html"),
        ("text/html; a*=x-unknown''%41", "text/html"),
        ("text/html; a*=''", "text/html"),
        ("text/html; a*0*=x''%41; a*1=%", "text/html"),
        ("a;b*0=1;b*0=2;b*1*=x''", "text/html"),
        ("text/html; a*=utf-16''%41", "text/html"),
        ("x; =?utf-16?q?=", "text/html"),
    ],
)
def test_every_accept_header_gets_a_response(visitor: Client, db: None, accept: str, media_type: str) -> None:
    for path in ("/unknown", "/not/a/code"):
        response = visitor.get(path, headers={"accept": accept})

        assert response.status_code == 404
        assert response["Content-Type"].partition(";")[0] == media_type


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONTENT_TYPE", "text/html; a*=x-unknown''%41"),
        ("CONTENT_TYPE", "text/html; charset=x-unknown"),
        ("CONTENT_TYPE", ";"),
        ("CONTENT_TYPE", "multipart/form-data"),
        ("CONTENT_LENGTH", "-1"),
        ("CONTENT_LENGTH", "x"),
        ("HTTP_COOKIE", "=;;=\xff; csrftoken=\x00; unlocked-x=\xff"),
        ("HTTP_ACCEPT", "text/html; a*=x-unknown''%41"),
        ("HTTP_ACCEPT_LANGUAGE", "\xff;q=x"),
        ("HTTP_USER_AGENT", "\xff\xfe Firefox"),
        ("HTTP_REFERER", "\xff\x00"),
        ("HTTP_X_FORWARDED_FOR", "\xff, , 1.2.3"),
        ("QUERY_STRING", "\xff=%ff&a=%"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_no_header_value_prevents_a_redirect(make_link: MakeLink, name: str, value: str) -> None:
    """Calls the WSGI application directly, as the test client builds requests differently."""
    environ: dict[str, Any] = {
        "PATH_INFO": f"/{make_link()['shortCode']}",
        "HTTP_HOST": "sho.rt",
        name: value,
    }
    setup_testing_defaults(environ)
    started: list[tuple[str, list[tuple[str, str]]]] = []

    application(environ, lambda status, headers: started.append((status, headers))).close()

    assert started == [("302 Found", list(redirect_headers(DESTINATION).items()))]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xff\xfe", "application/x-www-form-urlencoded"),
        (b"password=x", "application/x-www-form-urlencoded; charset=utf-16"),
        (b"password=x", "application/x-www-form-urlencoded; charset=x-unknown"),
        (b"a=1&" * 2000, "application/x-www-form-urlencoded"),
        (b"password=" + b"x" * 3_000_000, "application/x-www-form-urlencoded"),
        (b"--", "multipart/form-data"),
        (b"--", "multipart/form-data; boundary="),
        (
            b'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n\x00',
            "multipart/form-data; boundary=x",
        ),
        (
            b"--x\r\nContent-Disposition: form-data; name*=x-unknown''%41\r\n\r\n1\r\n--x--",
            "multipart/form-data; boundary=x",
        ),
        (b"--x\r\nContent-Transfer-Encoding: base64\r\n\r\n!\r\n--x--", "multipart/form-data; boundary=x"),
    ],
)
def test_a_malformed_form_is_refused_with_a_page(
    visitor: Client, make_link: MakeLink, body: bytes, content_type: str
) -> None:
    code = make_link(password="secret")["shortCode"]

    response = visitor.generic("POST", f"/{code}", body, content_type)

    refusal = {400: refusals.BAD_REQUEST, 403: refusals.FORM_EXPIRED}[response.status_code]
    check_page(response, title=refusal.title, message=refusal.message)
