"""The operator's name, logo and colour on the pages of the service."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pytest_django.fixtures import Settings

from accounts.mails import send_mail
from accounts.services import NewAccount
from common.brand import logo_url
from common.colors import contrast, readable_on, text_on
from dashboard.brand_style import stylesheet
from dashboard.brand_style import url as brand_style_url
from pages.style import style
from shortener_project.configuration.env import parse_brand_color, parse_brand_logo, parse_brand_name
from testing.accounts.admin import Operator
from testing.domains.domains import active_domain

MakeLink = Callable[..., dict[str, Any]]
COLORS = st.integers(min_value=0, max_value=0xFFFFFF).map("#{:06X}".format)
NAME = 'Müller & <b>"Söhne"</b>'
ESCAPED = "Müller &amp; &lt;b&gt;&quot;Söhne&quot;&lt;/b&gt;"


def picture(kind: str = "PNG", size: tuple[int, int] = (64, 32)) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", size, "#0B5FFF").save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture
def brand(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "logo.png"
    file.write_bytes(picture())
    settings.BRAND_NAME = parse_brand_name(NAME)
    settings.BRAND_LOGO = parse_brand_logo(str(file))
    settings.BRAND_COLOR = parse_brand_color("#ffcc00")


@pytest.mark.parametrize("text", ["x" * 41, "a\nb", "a\u202eb", "\0"])
def test_invalid_name_stops_the_start(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^BRAND_NAME must have at most 40 printable characters"):
        parse_brand_name(text)


@pytest.mark.parametrize("text", ["red", "#fff", "#12345G", "#1234567", "0B5FFF", "#0B5FFF;}"])
def test_invalid_color_stops_the_start(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^BRAND_COLOR must be a hex colour such as #1A2B3C"):
        parse_brand_color(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is neither a PNG nor a JPEG file."),
        (b"", "is neither a PNG nor a JPEG file."),
        (picture()[:60], "is not usable. Not a complete PNG image."),
        (picture(size=(1025, 8)), "is not usable. Must be at most 1024 pixels wide and high."),
        (picture() + b"x" * 102_400, "is not usable. Must be at most 102400 bytes."),
    ],
)
def test_invalid_logo_stops_the_start(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "logo"
    file.write_bytes(content)
    with pytest.raises(ImproperlyConfigured) as error:
        parse_brand_logo(str(file))
    assert str(error.value) == f"BRAND_LOGO: {file} {message}"


def test_missing_logo_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured) as error:
        parse_brand_logo(str(tmp_path / "none.png"))
    assert str(error.value) == f"BRAND_LOGO: cannot read {tmp_path}/none.png: No such file or directory."
    assert parse_brand_logo("") is None


def test_jpeg_logo_becomes_a_png(tmp_path: Path) -> None:
    (tmp_path / "logo.jpg").write_bytes(picture("JPEG"))
    logo = parse_brand_logo(str(tmp_path / "logo.jpg"))
    assert logo is not None
    assert logo.startswith(b"\x89PNG")


@given(COLORS, st.sampled_from(["#F3F4F6", "#1D2026", "#FBFBFC", "#181C25"]))
def test_text_in_any_color_is_readable(color: str, background: str) -> None:
    accent = readable_on(background, color, 4.5)
    assert contrast(accent, background) >= 4.5
    assert contrast(text_on(accent), accent) >= 4.5
    assert accent == color or contrast(color, background) < 4.5


@pytest.mark.parametrize("path", ["/nothing-here", "/locked", "/plain+", "/accounts/login/"])
@pytest.mark.usefixtures("brand")
def test_pages_have_the_name_the_logo_and_the_color(make_link: MakeLink, visitor: Client, path: str) -> None:
    make_link(customCode="locked", password="secret")
    make_link(customCode="plain")
    response = visitor.get(path, headers={"host": "sho.rt", "accept": "text/html"})
    html = response.content.decode()
    assert f'<p class="brand"><img src="{logo_url()}" alt=""><span>{ESCAPED}</span></p>' in html
    # Yellow is unreadable on white, but not on the dark card.
    [light, dark] = re.findall(r":root\{--accent:(#\w+);--on-accent:(#\w+)\}", html)
    assert dark == ("#FFCC00", "#000000")
    assert contrast(light[0], "#F3F4F6") >= 4.5
    [images] = re.findall(r"img-src ([^;]*);", response["Content-Security-Policy"])
    assert images.split()[0] == "'self'"


@pytest.mark.usefixtures("brand")
def test_page_for_an_unknown_host_does_not_name_the_company(visitor: Client, db: None) -> None:
    for path in ("/", "/code", "/.well-known/brand.png"):
        response = visitor.get(path, headers={"host": "points-here.example", "accept": "text/html"})
        assert response.status_code == 404
        assert b'class="brand"' not in response.content


@pytest.mark.usefixtures("brand")
def test_hosts_with_pages_serve_the_logo(visitor: Client, alice: NewAccount, settings: Settings) -> None:
    active_domain(alice.workspace)
    for host in ("sho.rt", "go.example"):
        response = visitor.get(logo_url(), headers={"host": host})
        assert (response.status_code, response["Content-Type"]) == (200, "image/png")
        assert response.content == settings.BRAND_LOGO
        assert response["Cache-Control"] == "public, max-age=86400"


@pytest.mark.usefixtures("brand")
def test_dashboard_has_the_name_the_logo_and_the_color(visitor: Client) -> None:
    html = visitor.get("/dashboard/", headers={"host": "sho.rt"}).content.decode()
    assert f"<title>{ESCAPED}</title>" in html
    assert f'data-brand-name="{ESCAPED}" data-brand-logo="{logo_url()}" data-qr-color="#000000"' in html
    [url] = re.findall(r'href="(/dashboard/brand/[^"]+)"', html)
    response = visitor.get(url, headers={"host": "sho.rt"})
    assert response["Content-Type"] == "text/css; charset=utf-8"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    css = response.content.decode()
    assert css == stylesheet()
    assert ":root{--brand:#FFCC00}" in css
    assert (
        ".brand-logo{block-size:1.75rem;inline-size:3.50rem;max-inline-size:8rem;object-fit:contain}" in css
    )
    other = visitor.get("/dashboard/brand/0123456789abcdef.css", headers={"host": "sho.rt"})
    assert other["Cache-Control"] == "no-store"


@pytest.mark.usefixtures("brand")
def test_header_of_the_admin_has_the_name_the_logo_and_the_color(operator: Operator) -> None:
    for path in ("/admin/", "/admin/links/link/"):
        html = operator.get(path).content.decode()
        assert f'<div id="site-name"><a href="/admin/">{ESCAPED}</a></div>' in html
        assert re.search(rf"<title>[^<]+ \| {ESCAPED}", html)
        assert f'<link rel="stylesheet" href="{brand_style_url()}">' in html
    css = stylesheet()
    assert "#header{--header-bg:#FFCC00;--header-color:#000000;" in css
    assert "#site-name > a::before{content:'';" in css


@pytest.mark.usefixtures("brand")
def test_mails_have_the_name(mailoutbox: list[EmailMessage]) -> None:
    assert send_mail("grace@example.com", "Invitation", "Welcome.") is None
    [message] = mailoutbox
    assert (message.subject, message.body) == (f"[{NAME}] Invitation", f"Welcome.\n\n{NAME}\nsho.rt\n")


def test_without_a_brand_nothing_is_added(visitor: Client, operator: Operator) -> None:
    admin = operator.get("/admin/").content.decode()
    assert '<a href="/admin/">URL shortener</a>' in admin
    assert "/dashboard/brand/" not in admin
    html = visitor.get("/dashboard/", headers={"host": "sho.rt"}).content.decode()
    assert "<title>URL shortener</title>" in html
    assert "brand" not in html
    refusal = visitor.get("/nothing", headers={"host": "sho.rt", "accept": "text/html"})
    assert b"brand" not in refusal.content
    assert "img-src" not in refusal["Content-Security-Policy"]
    assert "brand" not in style()
    assert visitor.get("/.well-known/brand.png", headers={"host": "sho.rt"}).status_code == 404
