"""The service and the key that this user has chosen, in a file that only the user can read."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from .exits import USAGE, Failed

VARIABLES = {"url": "SHORTENER_URL", "key": "SHORTENER_API_KEY", "workspace": "SHORTENER_WORKSPACE"}


@dataclass
class Configuration:
    url: str | None = None
    key: str | None = None
    workspace: str | None = None


def path() -> Path:
    """As the XDG Base Directory Specification says, which ignores relative paths."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".config") / "shorten/config.json"


def stored() -> Configuration:
    try:
        with path().open() as file:
            values = json.load(file)
            if os.fstat(file.fileno()).st_mode & 0o077 and values.get("key"):
                sys.stderr.write(
                    f"shorten: other users can read the key in {path()}. Run: chmod 600 {path()}\n"
                )
        return Configuration(**{name: values.get(name) for name in VARIABLES})
    except FileNotFoundError:
        return Configuration()
    except (ValueError, AttributeError):
        raise Failed(f"{path()} is no configuration of this program.", USAGE) from None


def store(configuration: Configuration) -> None:
    """Replaces the file at once, so that a program that reads it meanwhile finds a whole one."""
    path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The mode of a temporary file is 0600 from its creation.
    with NamedTemporaryFile("w", dir=path().parent, delete=False) as file:
        try:
            json.dump(asdict(configuration), file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path())
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def in_use() -> dict[str, tuple[str | None, str]]:
    """Each value with where it comes from. The environment wins."""
    values = asdict(stored())
    return {
        name: (os.environ[variable], variable) if os.environ.get(variable) else (values[name], str(path()))
        for name, variable in VARIABLES.items()
    }


def masked(key: str | None) -> str | None:
    """Enough of a key to recognise it."""
    if key is None:
        return None
    prefix, mark, secret = key.rpartition("_")
    return f"{prefix}{mark}…{secret[-4:]}"
