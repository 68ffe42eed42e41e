"""Pages for people are in the language of their browser, the API in English. A language is a catalogue."""

from __future__ import annotations

import ast
import gettext
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.identities import LastWayIn
from accounts.invitations import AlreadyMember, InvitationForAnother
from accounts.second_factor import WrongOtp
from accounts.services import UNUSUAL_ADDRESS, PasswordLoginOff
from common.http.languages import page_language
from pages.refusals import Refusal
from sign_in.forms import COPIED, NOT_ACCEPTED
from sign_in.openid_connect.identities import NOT_CONFIRMED
from testing.pages.html import parse
from testing.visitors.agents import FIREFOX

MakeLink = Callable[..., dict[str, Any]]
ROOT = Path(__file__).parents[3]
CATALOGUES = Path(settings.LOCALE_PATHS[0])
OTHERS = [code for code, _ in settings.LANGUAGES if code != "en"]
_ENTRY = re.compile(r'^msgid "(.+)"\nmsgstr "(.+)"$', re.MULTILINE)
_LITERAL = re.compile(r'\{% translate "((?:[^"\\]|\\.)*)"')
_BLOCK = re.compile(r"\{% blocktranslate[^%]*%\}(.*?)\{% endblocktranslate", re.DOTALL)


def unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def compiled(language: str) -> gettext.GNUTranslations:
    with (CATALOGUES / language / "LC_MESSAGES/django.mo").open("rb") as file:
        return gettext.GNUTranslations(file)


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_the_compiled_catalogue_is_that_of_the_source(language: str) -> None:
    """After a change of a .po file, ``manage.py compilemessages`` writes the other one."""
    source = (CATALOGUES / language / "LC_MESSAGES/django.po").read_text()
    entries = {unescaped(key): unescaped(text) for key, text in _ENTRY.findall(source)}
    catalogue = {key: text for key, text in compiled(language)._catalog.items() if key}  # type: ignore[attr-defined]
    assert entries == catalogue
    assert len(entries) > 20


def own_texts() -> set[str]:
    """The texts of our own templates, mails included, those in the code, and of every refusal."""
    texts: set[str] = set()
    for app in ("pages", "redirects", "sign_in", "dashboard", "analytics"):
        for template in (ROOT / app / "templates").rglob("*.*"):
            source = template.read_text()
            texts |= {unescaped(text) for text in _LITERAL.findall(source)}
            texts |= {re.sub(r"\{\{ (\w+) \}\}", r"%(\1)s", text) for text in _BLOCK.findall(source)}
    for app in ("accounts", "sign_in", "dashboard", "analytics", "events"):
        for module in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(module.read_text())):
                match node:
                    case ast.Call(ast.Name("_" | "gettext" | "gettext_lazy"), [ast.Constant(str(text))]):
                        texts.add(text)
    for name in (
        "pages.refusals",
        "redirects.refusals",
        "sign_in.refusals",
        "analytics.shares.refusals",
        "analytics.report_mails.refusals",
    ):
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, Refusal):
                texts |= {value.title, value.message}
    return texts


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_a_page_is_translated(language: str) -> None:
    catalogue = compiled(language)._catalog  # type: ignore[attr-defined]
    texts = own_texts()
    assert len(texts) > 100
    assert texts - catalogue.keys() == set()


@pytest.mark.parametrize("language", OTHERS)
def test_refusals_that_pages_share_with_the_api_are_translated(language: str) -> None:
    catalogue = compiled(language)._catalog  # type: ignore[attr-defined]
    texts = {UNUSUAL_ADDRESS, NOT_ACCEPTED, COPIED, NOT_CONFIRMED}
    texts |= {
        error.message
        for error in (LastWayIn, PasswordLoginOff, WrongOtp, AlreadyMember, InvitationForAnother)
    }
    assert texts - catalogue.keys() == set()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("de-CH,de;q=0.9,en;q=0.8", "de"), ("fr,de;q=0.5", "de"), ("fr", "en"), ("", "en"), ("%,;q=x", "en")],
)
def test_the_first_known_language_of_the_browser_is_chosen(accepted: str, language: str) -> None:
    assert page_language(accepted) == language


@pytest.fixture
def german() -> Client:
    headers = {"host": "sho.rt", "user-agent": FIREFOX, "accept": "text/html", "accept-language": "de"}
    return Client(headers=headers)


def test_visitors_read_refusals_and_forms_in_their_language(german: Client, make_link: MakeLink) -> None:
    make_link(customCode="locked", password="open sesame")
    missing, locked = german.get("/nothing"), german.get("/locked")
    assert parse(missing).texts["h1"] == "Link nicht gefunden"
    assert parse(locked).texts["h1"] == "Passwort nötig"
    assert '<html lang="de">' in missing.content.decode()
    make_link("https://example.com/page", customCode="plain")
    assert parse(german.get("/plain+")).texts["h1"] == "Vorschau des Links"
    # A program gets the text that it may compare.
    body = german.get("/nothing", headers={"accept": "application/json"}).json()
    assert body["message"] == "There is no link at this address. Check it for typing errors."


def test_people_sign_in_in_their_language(german: Client, db: None) -> None:
    page = german.get("/accounts/login/")
    assert parse(page).texts["h1"] == "Anmelden"
    assert '<html lang="de">' in page.content.decode()
    assert "E-Mail-Adresse" in page.content.decode()
    english = german.get("/accounts/login/", headers={"accept-language": "en"}).content.decode()
    assert "E-mail address" in english
    assert "Anmelden" not in english
    # The API speaks English to every browser.
    assert german.get("/api/urls").json()["message"].isascii()
