"""A further language is a file of texts for the dashboard and a catalogue for pages and mails, without any code."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from email.header import decode_header, make_header
from pathlib import Path
from struct import pack

import pytest

from testing.service.running import REPOSITORY, Service

pytestmark = pytest.mark.slow
ESPERANTO = {
    "URL shortener": "Ligilmallongigilo",
    "Link not found": "Ligilo ne trovita",
    "Sign in": "Ensaluti",
    "Your account": "Via konto",
    "API key replaced": "API-ŝlosilo anstataŭigita",
}


def catalogue(texts: dict[str, str]) -> bytes:
    """A compiled catalogue, as msgfmt writes it."""
    header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"
    entries = [(key.encode(), text.encode()) for key, text in sorted({"": header, **texts}.items())]
    tables, strings = [], b""
    start = 28 + 16 * len(entries)
    for column in (0, 1):
        for entry in entries:
            tables.append(pack("<II", len(entry[column]), start + len(strings)))
            strings += entry[column] + b"\0"
    return (
        pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, start)
        + b"".join(tables)
        + strings
    )


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """The project with a third language."""
    for entry in REPOSITORY.iterdir():
        if entry.name in ("dashboard", "shortener_project"):
            shutil.copytree(entry, tmp_path / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif entry.name == "manage.py":
            # Python imports from the folder to which a link of a script leads.
            shutil.copy(entry, tmp_path)
        elif not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    texts = tmp_path / "dashboard/front/texts"
    source = (texts / "en.js").read_text().replace('"URL shortener"', '"Ligilmallongigilo"')
    (texts / "eo.js").write_text(source)
    folder = tmp_path / "shortener_project/locale/eo/LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.mo").write_bytes(catalogue(ESPERANTO))
    return tmp_path


def test_a_third_language_needs_no_code(make_service: Callable[..., Service], code: Path) -> None:
    service = make_service(code=code, EMAIL_URL="console:", SIGNUP="open")
    service.start()

    def read(path: str, language: str = "eo,de;q=0.5") -> str:
        answer = service.call("GET", path, Accept="text/html", Accept_Language=language)
        return answer.body.decode()

    dashboard = read("/dashboard/")
    assert '<html lang="eo" data-languages="en,de,eo"' in dashboard
    assert "<title>Ligilmallongigilo</title>" in dashboard
    [texts] = [line.split('"')[3] for line in dashboard.splitlines() if "texts/eo.js" in line]
    assert "Ligilmallongigilo" in read(texts)
    # Both ways of redirecting, and a text that the catalogue lacks.
    for path in ("/nothing", "/nothing", "/not/a/code"):
        page = read(path)
        assert '<html lang="eo">' in page
        assert "<h1>Ligilo ne trovita</h1>" in page
        assert "There is no link at this address." in page
    sign_in = read("/accounts/login/")
    assert '<html lang="eo">' in sign_in
    assert "Ensaluti" in sign_in
    # A mail to an account with this language, whatever the language of the request.
    login = {"email": service.owner.email, "password": service.owner.password}
    token = service.call("POST", "/api/auth/login", login).json()["token"]
    headers = {"Authorization": f"Bearer {token}", "Accept_Language": "de"}
    assert service.call("PATCH", "/api/auth/me", {"language": "eo"}, **headers).status == 200
    assert service.call("POST", "/api/auth/regenerate-api-key", **headers).status == 200
    service.stop()
    [subject] = [line for line in service.stdout.splitlines() if line.startswith("Subject: ")]
    assert str(make_header(decode_header(subject))) == "Subject: [localhost] API-ŝlosilo anstataŭigita"
