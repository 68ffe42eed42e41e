"""The password and the API key of the first account, in a file that only its owner can read. Never log them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from accounts.services import NewAccount


def lines(owner: NewAccount) -> list[str]:
    return [
        f"  e-mail    {owner.user.email}",
        f"  password  {owner.password}",
        f"  API key   {owner.api_key}",
    ]


def save(owner: NewAccount, path: Path) -> None:
    """Write the file atomically, with mode 0600. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp uses mode 0600 regardless of the umask.
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write("\n".join([*lines(owner), ""]))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink()
        raise
