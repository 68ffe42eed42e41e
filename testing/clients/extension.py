"""The browser extension in a real Chromium."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import BrowserContext, sync_playwright

from testing.pages.chromium import ARGUMENTS
from testing.polling import DEADLINE
from testing.programs import program


class Extension(NamedTuple):
    context: BrowserContext
    identifier: str

    def address(self, page: str) -> str:
        return f"chrome-extension://{self.identifier}/{page}"


def with_access(clients: Path, folder: Path, hosts: list[str]) -> Path:
    """What the README says to load, but it may call the ``hosts`` without asking the user."""
    [built] = re.findall(r"`clients/(extension/dist)`", (clients / "extension/README.md").read_text())
    shutil.copytree(clients / built, folder)
    manifest = folder / "manifest.json"
    granted = json.loads(manifest.read_text()) | {"host_permissions": [f"http://{host}/*" for host in hosts]}
    manifest.write_text(json.dumps(granted))
    return folder


@contextmanager
def installed(folder: Path, profile: Path) -> Iterator[Extension]:
    """Chromium with the extension and a new profile."""
    # Chromium derives the id from the path, in letters from a to p.
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:32]
    identifier = "".join(chr(ord("a") + int(digit, 16)) for digit in digest)
    options = [f"--disable-extensions-except={folder}", f"--load-extension={folder}"]
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=program("chromium"),
            # The old headless mode has no extensions.
            args=[*ARGUMENTS, "--headless=new", *options],
            ignore_default_args=["--disable-extensions", "--headless"],
            timeout=1000 * DEADLINE,
        )
        context.set_default_timeout(1000 * DEADLINE)
        try:
            yield Extension(context, identifier)
        finally:
            context.close()
