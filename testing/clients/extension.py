"""The browser extension in a real Chromium."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import BrowserContext, sync_playwright

from testing.nodejs import node, node_modules
from testing.pages.chromium import ARGUMENTS
from testing.polling import DEADLINE
from testing.programs import program


class Extension(NamedTuple):
    context: BrowserContext
    identifier: str

    def address(self, page: str) -> str:
        return f"chrome-extension://{self.identifier}/{page}"


def build(clients: Path, hosts: list[str]) -> Path:
    """Compile the extension in a copy of ``clients``. It may call the ``hosts``, without asking the user."""
    folder = clients / "extension"
    compiled = node(node_modules() / "typescript/bin/tsc", "--project", folder, cwd=folder)
    assert (compiled.returncode, compiled.stdout) == (0, "")
    shutil.copytree(folder / "static", folder / "dist", dirs_exist_ok=True)
    manifest = folder / "dist/manifest.json"
    granted = json.loads(manifest.read_text()) | {"host_permissions": [f"http://{host}/*" for host in hosts]}
    manifest.write_text(json.dumps(granted))
    return folder / "dist"


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
