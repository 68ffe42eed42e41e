"""Copies the libraries of the dashboard from npm packages to ``front/vendor``: ``make vendor``.

Browsers do not resolve package names, so the copies import each other by path. Lines before and after the source turn
scripts and data into ES modules. ``vendored.json`` lists each file with its package, version, licence and checksums; a
test compares it with the files and with npm's lock file.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import NamedTuple

from dashboard.files import FRONT

VENDOR = FRONT / "vendor"
MANIFEST = VENDOR / "vendored.json"


class Library(NamedTuple):
    """``before`` and ``after`` turn the source into an ES module."""

    package: str
    source: str
    target: str
    before: str = ""
    after: str = ""


LIBRARIES = (
    Library("preact", "dist/preact.mjs", "preact.mjs"),
    Library("preact", "hooks/dist/hooks.mjs", "hooks.mjs"),
    Library("@preact/signals-core", "dist/signals-core.mjs", "signals-core.mjs"),
    Library("@preact/signals", "dist/signals.mjs", "signals.mjs"),
    Library("htm", "dist/htm.mjs", "htm.mjs"),
    Library("uplot", "dist/uPlot.iife.min.js", "uplot.mjs", after="export default uPlot;\n"),
    Library("uplot", "dist/uPlot.min.css", "uplot.css"),
    Library("d3-array", "dist/d3-array.min.mjs", "d3-array.mjs"),
    Library("d3-geo", "dist/d3-geo.min.mjs", "d3-geo.mjs"),
    Library(
        "topojson-client",
        "dist/topojson-client.min.js",
        "topojson-client.mjs",
        before="const exports = {}, module = exports;\n",
        after="export const { feature } = exports;\n",
    ),
    Library("world-atlas", "countries-110m.json", "world-atlas.mjs", before="export default ", after=";\n"),
)
_PATHS = {
    "preact": "./preact.mjs",
    "preact/hooks": "./hooks.mjs",
    "@preact/signals-core": "./signals-core.mjs",
    "d3-array": "./d3-array.mjs",
}


def vendored(node_modules: Path) -> dict[str, bytes]:
    """The content of each file below ``front/vendor``, by its name."""
    content: dict[str, bytes] = {}
    entries = []
    for package, source, target, before, after in LIBRARIES:
        folder = node_modules / package
        original = (folder / source).read_text()
        content[target] = f"{before}{_with_paths(original)}{after}".encode()
        licence = f"licences/{package.replace('/', '-').removeprefix('@')}.txt"
        content[licence] = next(folder.glob("LICENSE*")).read_bytes()
        declared = json.loads((folder / "package.json").read_text())
        entries.append(
            {
                "file": target,
                "package": package,
                "version": declared["version"],
                "licence": declared["license"],
                "licenceFile": licence,
                "source": source,
                "sourceSha256": _digest(original.encode()),
                "sha256": _digest(content[target]),
            }
        )
    content[MANIFEST.name] = f"{json.dumps(entries, indent=2)}\n".encode()
    return content


def _with_paths(module: str) -> str:
    """The module with paths instead of package names, and without a reference to a source map."""
    for package, path in _PATHS.items():
        module = module.replace(f'from"{package}"', f'from"{path}"')
    lines = module.splitlines(keepends=True)
    if lines[-1].startswith("//# sourceMappingURL="):
        return "".join(lines[:-1])
    return module.partition("//# sourceMappingURL=")[0]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main(node_modules: Path) -> None:
    for name, content in vendored(node_modules).items():
        path = VENDOR / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
