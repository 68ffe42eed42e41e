"""The source of the compiled module: its version says whether a compiled module is up to date."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

SOURCE = Path(__file__).with_name("plain_links.pyx")


def source_version() -> str:
    """A hash of the names and the contents of the module's files."""
    version = sha256()
    for path in sorted([*SOURCE.parent.glob("*.pyx"), *SOURCE.parent.glob("*.pxi")]):
        content = path.read_bytes()
        version.update(f"{path.name} {len(content)}\n".encode())
        version.update(content)
    return version.hexdigest()
