"""Reads a description from a file, and writes the generated folders of both clients."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import python, typescript
from .description import read


def main(path: str, into: str | Path = Path(__file__).parents[1]) -> None:
    description = read(json.loads(Path(path).read_text()))
    python.check(description)
    python.write(description, Path(into, "python/src/shortener_client/generated"))
    typescript.write(description, Path(into, "typescript/src/generated"))


if __name__ == "__main__":
    main(*sys.argv[1:])
