"""The program `shorten`, as a program, against a running service."""

from __future__ import annotations

import json
import re

import pytest
from PIL import Image

from testing.clients.building import CLIENTS
from testing.clients.command_line import Done, Shorten
from testing.pictures import decoded, read
from testing.polling import eventually
from testing.service.ports import free_port
from testing.service.running import Service
from testing.visitors.agents import FIREFOX
from tests.clients.conftest import Account

pytestmark = pytest.mark.slow

ADDRESS = "https://destination.example"
REQUEST = r"request [0-9a-f-]{36}\)"


def created(shorten: Shorten, *words: str) -> str:
    """The short URL of a new link."""
    done = shorten(f"{ADDRESS}/spring", *words)
    assert (done.code, done.err) == (0, "")
    return done.out.strip()


def shown(shorten: Shorten, link: str) -> dict[str, object]:
    done = shorten("get", link, "--json")
    assert done.code == 0, done.err
    link: dict[str, object] = json.loads(done.out)
    return link


def test_a_login_is_stored_for_this_user_alone(stranger: Shorten, service: Service, account: Account) -> None:
    assert stranger("ls").code == 3
    refused = stranger("login", service.url, stdin="sl_live_wrong\n")
    assert (refused.code, refused.out) == (3, "")
    assert re.search(rf"\(401 not_authenticated, {REQUEST}", refused.err)
    path = stranger.home / ".config/shorten/config.json"
    assert not path.exists()

    assert stranger("login", service.url, stdin=f"{account.api_key}\n").code == 0

    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert stranger("ls").code == 0
    config = stranger("config")
    assert account.api_key not in config.out + config.err
    assert service.url in config.out
    # The key does not follow to another service.
    assert stranger("config", "url", "http://127.0.0.1:9").code == 0
    assert stranger("ls").code == 3
    elsewhere = stranger("config", XDG_CONFIG_HOME=str(stranger.home / "elsewhere"))
    assert service.url not in elsewhere.out


def test_in_a_terminal_it_asks_hides_and_draws(stranger: Shorten, service: Service, account: Account) -> None:
    code, screen = stranger.in_terminal("login", service.url, answers={"API key: ": account.api_key})
    assert code == 0, screen
    assert account.api_key not in screen
    link = created(stranger, "--title", "Spring sale")

    code, screen = stranger.in_terminal("ls", answers={}, NO_COLOR="1")
    assert code == 0
    assert "short URL" in screen
    assert "Spring sale" in screen
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", screen)
    code, screen = stranger.in_terminal("rm", link, answers={"Delete 1 link?": "n"})
    assert code != 0
    assert shown(stranger, link)["shortUrl"] == link
    code, screen = stranger.in_terminal("rm", link, answers={"Delete 1 link?": "y"})
    assert code == 0
    assert stranger("get", link).code == 4


def test_links_are_created_listed_changed_explained_and_deleted(shorten: Shorten) -> None:
    link = created(
        shorten, "--tag", "sale", "--code", "Spring26", "--title", "A\tB", "-f", "redirectType=301"
    )
    assert link.endswith("/Spring26")
    many = shorten("new", "-", stdin=f"{ADDRESS}/1\nno address\n\n{ADDRESS}/2\n")
    assert many.code == 7
    assert many.err.startswith("no address: originalUrl: ")
    [first, second] = many.out.split()

    # Nothing of a title can break the lines of a pipe.
    listed = shorten("ls")
    assert listed.out == (
        f"{second}\t0\tactive\t\t{ADDRESS}/2\n"
        f"{first}\t0\tactive\t\t{ADDRESS}/1\n"
        f"{link}\t0\tactive\tA B\t{ADDRESS}/spring\n"
    )
    assert [json.loads(line)["shortUrl"] for line in shorten("ls", "--all", "--json").out.splitlines()] == [
        *(link, first, second)
    ]
    assert shorten("ls", "--tag", "sale").out.count("\n") == 1

    assert (
        shorten("set", "Spring26", "--max-clicks", "5", "--target", f"{ADDRESS}/now", "--title", "").code == 0
    )
    changed = shown(shorten, link)
    assert changed["restrictions"] == {"maxClicks": 5}
    assert (changed["targetUrl"], changed["title"], changed["redirectType"]) == (f"{ADDRESS}/now", None, 301)
    assert shorten("why", link, "--country", "DE").out.endswith(f"\n301  {ADDRESS}/now\n")
    assert shorten("stats", link, "--period", "7d").out.startswith("0 clicks, 0 unique (7d)\n")
    assert json.loads(shorten("stats", "--json").out)["totalClicks"] == 0

    assert shorten("rm", link).code == 2
    assert shorten("rm", link, first, "--yes").code == 0
    assert shorten("ls").out.startswith(second)


def test_a_walk_prints_every_link_of_all_pages_once(shorten: Shorten) -> None:
    created = shorten("new", "-", stdin="".join(f"{ADDRESS}/{number}\n" for number in range(205)))
    assert (created.code, created.err) == (0, "")
    listed = shorten("ls", "--all")
    assert [line.split("\t")[0] for line in listed.out.splitlines()] == created.out.split()
    newest = shorten("ls", "-n", "150")
    assert [line.split("\t")[0] for line in newest.out.splitlines()] == created.out.split()[:54:-1]


def test_errors_have_codes_requests_and_exit_codes(shorten: Shorten) -> None:
    missing = shorten("get", "Unknown1")
    assert (missing.code, missing.out) == (4, "")
    [sentence, remedy] = missing.err.splitlines()
    assert re.fullmatch(rf"shorten: URL not found\. \(404 not_found, {REQUEST}", sentence)
    assert remedy.endswith("/api/docs/errors/not_found")
    refused = shorten("new", "ftp://destination.example", "--json")
    assert (refused.code, refused.out) == (1, "")
    error = json.loads(refused.err)["error"]
    assert (error["status"], error["code"]) == (400, "validation_error")
    assert [field["field"] for field in error["errors"]] == ["originalUrl"]
    created(shorten, "--code", "Taken1")
    assert shorten(f"{ADDRESS}/", "--code", "Taken1").code == 5
    assert shorten("nonsense").code == 2
    assert shorten("set", "Taken1").code == 2
    assert shorten("ls", SHORTENER_URL=f"http://127.0.0.1:{free_port()}").code == 6
    # No secret is an argument, and none shows in the help.
    assert shorten("new", "--password=open", ADDRESS).code == 2
    assert "[env" not in shorten("login", "--help").out


def test_a_qr_code_in_the_terminal_and_as_a_file_leads_to_the_link(shorten: Shorten) -> None:
    link = created(shorten)
    rows = shorten("qr", link).out.splitlines()

    # As a terminal with light text on dark ground draws it.
    upper, lower = {"█": 255, "▀": 255, "▄": 0, " ": 0}, {"█": 255, "▄": 255, "▀": 0, " ": 0}
    modules = [bytes(half[each] for each in row) for row in rows for half in (upper, lower)]
    drawing = Image.frombytes("L", (len(rows[0]), len(modules)), b"".join(modules))
    assert decoded(drawing.resize((drawing.width * 8, drawing.height * 8), Image.Resampling.NEAREST)) == [
        f"{link}?qr=1"
    ]
    path = shorten.home / "code.png"
    assert shorten("qr", link, "-o", path).code == 0
    assert read(path.read_bytes(), "PNG") == [f"{link}?qr=1"]
    before = path.read_bytes()
    assert shorten("qr", link, "-o", path).code == 2
    assert shorten("qr", link, "-o", "code.gif").code == 2
    assert path.read_bytes() == before


def test_an_export_can_be_imported_again(shorten: Shorten) -> None:
    link = created(shorten, "--title", "Grüße", "--external-id", "order-1815")
    assert shorten("export", "-o", "links.csv").code == 0
    assert shorten("export", "--format", "jsonl").out.count("\n") == 1
    dry = shorten("import", "links.csv", "--dry-run")
    assert dry.code == 7
    assert "(409 code_taken)" in dry.err or "(409 external_id_taken)" in dry.err

    new = f"originalUrl,customCode\n{ADDRESS}/imported,Imported1\n"
    assert shorten("import", "-", "--dry-run", stdin=new).code == 0
    assert shorten("get", "Imported1").code == 4
    assert shorten("import", "-", stdin=new).code == 0
    assert shown(shorten, "Imported1")["originalUrl"] == f"{ADDRESS}/imported"
    assert shown(shorten, "ext_order-1815")["shortUrl"] == link
    assert [path.name for path in shorten.home.iterdir()] == ["links.csv"]
    missing = shorten("import", "missing.csv")
    assert (missing.code, missing.err) == (2, "shorten: missing.csv: No such file or directory.\n")


def test_tail_prints_each_click_once_across_runs(shorten: Shorten, service: Service) -> None:
    link = created(shorten)
    code = link.rpartition("/")[2]
    assert shorten("tail", "--once").code == 1
    tail = ("tail", "--once", "--json", "--position", "position", "--collect")
    assert shorten(*tail) == Done(0, "", "The service collects link.clicked from now on.\n")

    def come() -> list[str]:
        return [json.loads(line)["data"]["code"] for line in shorten(*tail).out.splitlines()]

    for _ in range(2):
        service.call("GET", f"/{code}", Host=f"localhost:{service.port}", User_Agent=FIREFOX)
        assert eventually(come) == [code]
    assert come() == []
    [first, second] = shorten("tail", "--once", "--from-start").out.splitlines()
    assert first.split("\t")[1:3] == second.split("\t")[1:3] == ["link.clicked", code]


LINKS = """\
links:
  - externalId: spring
    originalUrl: https://destination.example/spring
    title: Spring
    expiresAt: 2040-01-01
    utm: {source: mail}
    rules:
      - url: https://destination.example/de
        conditions: [{type: country, values: [DE]}]
  - externalId: docs
    originalUrl: https://destination.example/docs
    password: open sesame
"""


def test_links_of_a_file_are_planned_and_made_so(shorten: Shorten) -> None:
    path = shorten.home / "links.yaml"
    path.write_text(LINKS)
    planned = shorten("apply", "links.yaml")
    assert planned.code == 0
    assert planned.out.startswith("+ spring\n    originalUrl: https://destination.example/spring\n")
    assert planned.out.endswith("2 to create, 0 to change, 0 as they are.\n")
    assert "open sesame" not in planned.out
    assert shorten("ls").out == ""

    assert shorten("apply", "links.yaml", "--yes").code == 0
    again = shorten("apply", "links.yaml", "--yes")
    assert again.out == "0 to create, 0 to change, 2 as they are.\n"
    assert shown(shorten, "ext_docs")["hasPassword"] is True
    path.write_text(LINKS.replace("title: Spring", "title: Summer").replace("/docs", "/manual"))
    changed = shorten("apply", "links.yaml", "--yes")
    assert changed.code == 0
    assert changed.out == (
        "~ spring\n    title: Spring -> Summer\n"
        "~ docs\n    originalUrl: https://destination.example/docs -> https://destination.example/manual\n"
        "0 to create, 2 to change, 0 as they are.\n"
    )
    assert shown(shorten, "ext_docs")["targetUrl"] == f"{ADDRESS}/manual"
    assert shorten("apply", "links.yaml").out == "0 to create, 0 to change, 2 as they are.\n"
    path.write_text("links: [{externalId: a/b, originalUrl: x}]")
    assert shorten("apply", "links.yaml", "--yes").code == 2


def test_commands_are_completed_and_described(stranger: Shorten) -> None:
    completed = stranger(_SHORTEN_COMPLETE="complete_bash", COMP_WORDS="shorten st", COMP_CWORD="1")
    assert completed.out.split() == ["stats"]
    assert stranger("--version").out == "shorten 1.0.0\n"
    named = set(re.findall(r"^│ (\w+) ", stranger("--help", COLUMNS="100").out, re.M))
    table = re.findall(r"^\| `.*", (CLIENTS / "cli/README.md").read_text(), re.M)
    assert named - {word for row in table for word in re.findall(r"\w+", row.partition(" | ")[0])} == set()
