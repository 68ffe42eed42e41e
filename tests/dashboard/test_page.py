"""The page of the dashboard and its files."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path

import pytest
from django.test import Client

from accounts.services import NewAccount
from dashboard import files, urls
from dashboard.document import first_view
from testing.domains.domains import active_domain

ID = "01890000-0000-7000-8000-000000000000"
PAGES = ["/dashboard/", "/dashboard/new", f"/dashboard/links/{ID}"]
MAX_FIRST_VIEW = 150 * 1024


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "sho.rt", "accept": "text/html", "accept-encoding": "gzip"})


def html_of(browser: Client, path: str) -> str:
    """The page without compression."""
    return browser.get(path, headers={"accept-encoding": "identity"}).content.decode()


def urls_of_first_view(browser: Client, path: str = "/dashboard/") -> list[str]:
    """Everything that a browser loads for the first view."""
    return sorted(set(re.findall(r'(?:href|src)="(/dashboard/files/[^"]+)"', html_of(browser, path))))


def names_of_first_view(browser: Client, path: str) -> set[str]:
    return {url.split("/", 4)[4] for url in urls_of_first_view(browser, path)}


def test_the_root_of_the_services_own_host_leads_to_the_dashboard(browser: Client) -> None:
    response = browser.get("/")
    assert (response.status_code, response["Location"]) == (302, "/dashboard/overview")


def test_the_path_without_a_slash_leads_to_the_dashboard(browser: Client) -> None:
    response = browser.get("/dashboard")
    assert (response.status_code, response["Location"]) == (302, "/dashboard/overview")


@pytest.mark.parametrize("path", PAGES)
def test_pages_differ_only_in_the_files_that_they_load_first(path: str, browser: Client) -> None:
    response = browser.get(path)
    assert response.status_code == 200
    preloaded = re.compile(r'<link rel="(?:module)?preload".*>\n')
    assert preloaded.sub("", html_of(browser, path)) == preloaded.sub("", html_of(browser, "/dashboard/"))
    assert response["Cache-Control"] == "no-cache"
    assert response["X-Robots-Tag"] == "noindex"


def test_the_page_lists_the_pages_that_the_server_has(browser: Client) -> None:
    [listed] = re.findall(
        r'<script id="pages" type="application/json">(.*?)</script>', html_of(browser, "/dashboard/")
    )
    assert json.loads(listed) == urls.PAGES
    assert len(urls.PAGES) > 5
    paths = [path.replace("<uuid:id>", ID) for path in urls.PAGES]
    assert {path: browser.get(f"/dashboard/{path}").status_code for path in paths} == dict.fromkeys(
        paths, 200
    )


@pytest.mark.parametrize(
    "path", ["/dashboard/nothing", "/dashboard/links/1", "/dashboard/links/", "/dashboard//"]
)
def test_an_unknown_path_is_not_found(path: str, browser: Client, db: None) -> None:
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize("path", [*PAGES, "/dashboard", "/dashboard/session/token"])
def test_the_domain_of_a_customer_has_no_dashboard(path: str, browser: Client, alice: NewAccount) -> None:
    active_domain(alice.workspace)
    for method in ("GET", "POST"):
        assert browser.generic(method, path, headers={"host": "go.example"}).status_code == 404


def test_the_page_may_run_only_its_own_scripts(browser: Client) -> None:
    response = browser.get("/dashboard/")
    policy = response["Content-Security-Policy"]
    assert "unsafe" not in policy
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["style-src"] == directives["connect-src"] == "'self'"
    assert directives["require-trusted-types-for"] == "'script'"
    assert directives["trusted-types"] == "'none'"


def test_the_page_contains_no_inline_script_or_style(browser: Client) -> None:
    html = html_of(browser, "/dashboard/")
    assert "<style" not in html
    assert re.findall(r"\s(?:style|on\w+)=", html) == []
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL)
    assert [text for attributes, text in scripts if "application/json" not in attributes] == ["", "", ""]
    assert re.findall(r"https?://", html) == []


def test_every_file_that_a_module_imports_exists_and_is_preloaded(browser: Client) -> None:
    preloaded: set[str] = set()
    for path, module in urls.PAGES.items():
        url = f"/dashboard/{path.replace('<uuid:id>', ID)}"
        names = names_of_first_view(browser, url)
        assert names <= set(files.names())
        assert set(first_view(f"pages/{module}")) < names
        preloaded.update(urls_of_first_view(browser, url))
    assert {url: browser.get(url).status_code for url in preloaded} == dict.fromkeys(preloaded, 200)


def test_a_page_does_not_preload_the_modules_of_others(browser: Client) -> None:
    lists, report = "pages/links/", "pages/report/"
    of_list = names_of_first_view(browser, "/dashboard/")
    of_report = names_of_first_view(browser, f"/dashboard/links/{ID}/report")
    assert any(name.startswith(lists) for name in of_list)
    assert not any(name.startswith(report) for name in of_list)
    assert not any(name.startswith(lists) for name in of_report)
    # It waits for its style sheet. The chart and the map come later.
    assert "pages/report/report.css" in of_report
    assert not any(name.startswith(("vendor/uplot", "vendor/world")) for name in of_report)


def test_the_first_paint_needs_no_script(browser: Client) -> None:
    assert (
        ">URL-Verkürzer</a>"
        in browser.get(
            "/dashboard/", headers={"accept-language": "de", "accept-encoding": "identity"}
        ).content.decode()
    )
    assert ">URL shortener</a>" in html_of(browser, "/dashboard/")


def test_the_page_is_compressed(browser: Client) -> None:
    response = browser.get("/dashboard/")
    assert response["Content-Encoding"] == "gzip"
    assert gzip.decompress(response.content).decode() == html_of(browser, "/dashboard/")


def test_the_first_view_of_every_page_is_smaller_than_150_kilobytes(browser: Client) -> None:
    size_of = cache(lambda url: len(browser.get(url).content))
    sizes: dict[str, int] = {}
    for language in ("en", "de"):
        for path in urls.PAGES:
            url = f"/dashboard/{path.replace('<uuid:id>', ID)}"
            page = browser.get(url, headers={"accept-language": language}).content
            loaded = set(
                re.findall(r'(?:href|src)="(/dashboard/files/[^"]+)"', gzip.decompress(page).decode())
            )
            assert any(name.endswith(f"/texts/{language}.js") for name in loaded)
            sizes[f"{language} {url}"] = len(page) + sum(map(size_of, loaded))
    assert len(sizes) == 2 * len(urls.PAGES)
    assert {name: size for name, size in sizes.items() if size >= MAX_FIRST_VIEW} == {}


def test_files_are_compressed_for_browsers_that_accept_it(browser: Client) -> None:
    url = f"/dashboard/files/{files.version()}/main.js"
    compressed, plain = browser.get(url), browser.get(url, headers={"accept-encoding": "identity"})
    assert compressed["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain
    assert gzip.decompress(compressed.content) == plain.content
    # Without the comments of types, but with the same number for each line.
    lines, source = plain.content.splitlines(), (files.FRONT / "main.js").read_bytes().splitlines()
    assert [line or kept for line, kept in zip(lines, source, strict=True)] == source
    assert b"/**" in source[0]
    assert lines[0] == b""
    assert plain["Content-Type"] == "text/javascript; charset=utf-8"
    assert {compressed["Vary"], plain["Vary"]} == {"Accept-Encoding"}
    assert plain["X-Content-Type-Options"] == "nosniff"


def test_browsers_keep_the_files_of_the_current_version_only(browser: Client) -> None:
    current = browser.get(f"/dashboard/files/{files.version()}/main.js")
    assert current["Cache-Control"] == "public, max-age=31536000, immutable"
    # During an update, the page of one host may name the version of another.
    other = browser.get("/dashboard/files/0123456789abcdef/main.js")
    assert (other.status_code, other["Cache-Control"]) == (200, "no-store")


def test_the_version_is_that_of_the_files_as_they_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    version = files.version.__wrapped__
    assert version() == files.version()
    monkeypatch.setattr(files, "_without_types", lambda module: module)
    assert version() != files.version()


def test_only_comments_of_types_are_left_out() -> None:
    module = b"/** @type {1}\n * 2 */\n  /** 3 */ a();\n/**/ b(); /** 4 */\n/* 5 */\n"
    assert files._without_types(module) == b"\n\n a();\n/**/ b(); /** 4 */\n/* 5 */\n"


@pytest.mark.parametrize(
    "name",
    [
        "nothing.js",
        "../views.py",
        "vendor/../../views.py",
        "tsconfig.json",
        "vendor/vendored.json",
        "/etc/passwd",
        "vendor",
    ],
)
def test_other_files_are_not_served(name: str, browser: Client, db: None) -> None:
    assert browser.get(f"/dashboard/files/{files.version()}/{name}").status_code == 404


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("en-GB", "en"),
        ("fr", "en"),
        ("", "en"),
        ("fr,de;q=0.1", "de"),
        ("de;q=x", "en"),
    ],
)
def test_the_browser_chooses_the_language(accepted: str, language: str, browser: Client) -> None:
    headers = {"accept-language": accepted, "accept-encoding": "identity"}
    response = browser.get("/dashboard/", headers=headers)
    assert f'<html lang="{language}"' in response.content.decode()
    assert "Accept-Language" in response["Vary"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "BREW"])
@pytest.mark.parametrize("path", ["/dashboard/", "/dashboard/new"])
def test_pages_reject_other_methods(method: str, path: str, browser: Client) -> None:
    assert browser.generic(method, path).status_code == 405


def test_no_file_names_another_site() -> None:
    """Addresses in comments and licences are harmless; nothing loads them, as the policy shows."""
    texts = {
        name: Path(path).read_text() for name, path in files.names().items() if not name.endswith(".woff2")
    }
    loading = re.compile(r"""(?:@import|url\(|\bfrom|\bimport\(?)\s*["'(]?https?://""")
    assert [name for name, text in texts.items() if loading.search(text)] == []


def test_the_report_is_no_part_of_the_first_view_of_others() -> None:
    first, report = set(first_view("pages/links/page.js")), set(first_view("pages/report/page.js"))
    assert not any(name.startswith("pages/report/") for name in first)
    # The chart and the map are loaded when they are shown.
    large = {f"vendor/{name}.mjs" for name in ("uplot", "d3-geo", "world-atlas", "topojson-client")}
    assert report & large == set()
    assert large <= set(files.names())
