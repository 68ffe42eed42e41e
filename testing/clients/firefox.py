"""Firefox with an extension, by its own remote protocol: Playwright's build of Firefox takes no extensions.

Mozilla's client of this protocol needs another psutil than we do.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testing.polling import DEADLINE, eventually
from testing.programs import program
from testing.service.ports import free_port

EXTENSION = "shorten@shortener.invalid"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name for the id of an element.


class Firefox:
    """Commands of WebDriver, sent by Marionette: JSON behind its length. They act on the tab chosen last."""

    def __init__(self, connection: socket.socket, identifier: str) -> None:
        self._stream = connection.makefile("rwb")
        self._identifier = identifier
        self._number = 0
        self._answer()  # Which protocol this is.
        self.send(
            "WebDriver:NewSession", {"timeouts": {"implicit": 1000 * DEADLINE, "pageLoad": 1000 * DEADLINE}}
        )

    def _answer(self) -> Any:
        length = b""
        while (digit := self._stream.read(1)) != b":":
            assert digit, "Firefox has ended."
            length += digit
        return json.loads(self._stream.read(int(length)))

    def send(self, command: str, parameters: dict[str, Any] | None = None) -> Any:
        self._number += 1
        message = json.dumps([0, self._number, command, parameters or {}]).encode()
        self._stream.write(b"%d:%s" % (len(message), message))
        self._stream.flush()
        kind, number, error, result = self._answer()
        assert (kind, number, error) == (1, self._number, None), error
        return result

    def address(self, page: str) -> str:
        return f"moz-extension://{self._identifier}/{page}"

    def new_tab(self) -> str:
        handle: str = self.send("WebDriver:NewWindow", {"type": "tab", "focus": False})["handle"]
        return handle

    def choose(self, tab: str, *, front: bool = False) -> None:
        self.send("WebDriver:SwitchToWindow", {"handle": tab, "focus": front})

    def go(self, address: str) -> None:
        self.send("WebDriver:Navigate", {"url": address})

    def _find(self, selector: str) -> str:
        found = self.send("WebDriver:FindElement", {"using": "css selector", "value": selector})
        element: str = found["value"][_ELEMENT]
        return element

    def fill(self, selector: str, text: str) -> None:
        element = self._find(selector)
        self.send("WebDriver:ElementClear", {"id": element})
        self.send("WebDriver:ElementSendKeys", {"id": element, "text": text})

    def click(self, selector: str) -> None:
        self.send("WebDriver:ElementClick", {"id": self._find(selector)})

    def text(self, selector: str) -> str:
        text: str = self.send("WebDriver:GetElementText", {"id": self._find(selector)})["value"]
        return text

    def value_of(self, script: str) -> Any:
        return self.send("WebDriver:ExecuteScript", {"script": f"return {script}", "args": []})["value"]


@contextmanager
def running(folder: Path, profile: Path) -> Iterator[Firefox]:
    """Firefox with the extension in ``folder`` and a new profile."""
    identifier, port = str(uuid.uuid4()), free_port()
    preferences = {
        "marionette.port": port,
        # Otherwise the addresses of an extension's pages are drawn when it is installed.
        "extensions.webextensions.uuids": json.dumps({EXTENSION: identifier}),
        "datareporting.policy.dataSubmissionEnabled": False,
        "browser.shell.checkDefaultBrowser": False,
        "network.captive-portal-service.enabled": False,
    }
    shutil.rmtree(profile, ignore_errors=True)
    profile.mkdir()
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
    (profile / "user.js").write_text("".join(lines))
    process = subprocess.Popen(
        [
            program("firefox-esr"),
            "--marionette",
            "--headless",
            "--no-remote",
            "--remote-allow-system-access",
            "--profile",
            profile,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"HOME": str(profile), "MOZ_CRASHREPORTER_DISABLE": "1"},
        start_new_session=True,
    )
    try:
        with eventually(lambda: _connected(port)) as connection:
            firefox = Firefox(connection, identifier)
            firefox.send("Addon:Install", {"path": str(folder), "temporary": True})
            yield firefox
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _connected(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
    except ConnectionRefusedError:
        return None
